"""Random llama and qwen3 models as GGUF files, against float32 safetensors of the weights that gguf-py decodes.

Both files must give close logits (activations are rounded to 16 bits before quantised weights), and the GGUF file the
same bits for other instruction sets, threads and pass widths. Shapes, ties, biases and rope factors are drawn anew.
"""
import json
import math
import os
import random
import sys
import tempfile

import gguf
import numpy
from safetensors.numpy import save_file

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks

BOUND = 3e-3
THETA = 20000.0
SCALING = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 64}
FLOATS = [gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.BF16]
CODES = [gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.Q4_1, gguf.GGMLQuantizationType.Q8_0]
POSITIONS = [299, 0, 1, 2, 63, 64, 65, 150]
WAYS = [["--isa", "ref", "--threads", 1, "--prefill-width", 1], ["--threads", 3, "--prefill-width", 7],
        ["--threads", 64, "--prefill-width", 128], ["--isa", "ref", "--threads", 7, "--prefill-width", 65536]]


# Families whose GGUF files interleave rotation pairs, and whose heads have norms.
PAIRED, HEAD_NORMED = ("llama",), ("qwen3",)


def draw_shape(pick, family):
    coded = pick.random() < 0.8
    kv_heads = pick.choice([1, 2, 3])
    s = {"kv_heads": kv_heads, "heads": kv_heads * pick.choice([1, 2, 3]), "vocab": pick.choice([33, 100, 257]),
         "head": pick.choice([2, 6, 8, 16, 24, 32, 64, 80]), "layers": pick.choice([1, 2, 3]), "coded": coded,
         "hidden": pick.choice([32, 64, 96, 160] if coded else [20, 33, 50]),
         "intermediate": pick.choice([32, 64, 224] if coded else [31, 50])}
    if coded and s["heads"] * s["head"] % 32:
        s["head"] = 32
    for flag in ("tied", "attention_bias", "mlp_bias", "factors"):
        s[flag] = pick.random() < 0.5
    s["family"] = family
    if family == "qwen3":
        s["mlp_bias"] = s["factors"] = False
    return s


def tensors_of(s, rng):
    """Yields (safetensors name, GGUF name, values, heads whose rotation pairs GGUF stores interleaved)."""
    def matrix(rows, columns):
        return (rng.standard_normal((rows, columns)) / columns ** 0.5 * 1.5).astype(numpy.float32)

    def vector(n, centre):
        return (centre + 0.2 * rng.standard_normal(n)).astype(numpy.float32)

    hidden, inner, q, kv = s["hidden"], s["intermediate"], s["heads"] * s["head"], s["kv_heads"] * s["head"]
    yield "model.embed_tokens.weight", "token_embd.weight", matrix(s["vocab"], hidden), 0
    yield "model.norm.weight", "output_norm.weight", vector(hidden, 1), 0
    if not s["tied"]:
        yield "lm_head.weight", "output.weight", matrix(s["vocab"], hidden), 0
    for layer in range(s["layers"]):
        hf, block = f"model.layers.{layer}.", f"blk.{layer}."
        yield hf + "input_layernorm.weight", block + "attn_norm.weight", vector(hidden, 1), 0
        yield hf + "post_attention_layernorm.weight", block + "ffn_norm.weight", vector(hidden, 1), 0
        for which in "qk" if s["family"] in HEAD_NORMED else "":
            yield f"{hf}self_attn.{which}_norm.weight", f"{block}attn_{which}_norm.weight", vector(s["head"], 1), 0
        for module, name, rows, columns, heads in (
                ("self_attn.q_proj", "attn_q", q, hidden, s["heads"]),
                ("self_attn.k_proj", "attn_k", kv, hidden, s["kv_heads"]),
                ("self_attn.v_proj", "attn_v", kv, hidden, 0), ("self_attn.o_proj", "attn_output", hidden, q, 0),
                ("mlp.gate_proj", "ffn_gate", inner, hidden, 0), ("mlp.up_proj", "ffn_up", inner, hidden, 0),
                ("mlp.down_proj", "ffn_down", hidden, inner, 0)):
            yield hf + module + ".weight", block + name + ".weight", matrix(rows, columns), heads
            if s["mlp_bias" if module.startswith("mlp") else "attention_bias"]:
                yield hf + module + ".bias", block + name + ".bias", vector(rows, 0), heads


def separate(x, heads):
    """Rows as GGUF stores them, two of a rotation pair side by side, to first halves before second ones."""
    return x.reshape(heads, -1, 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def rope_factors(head):
    """What the converters store for SCALING: how much longer each pair's wave becomes."""
    factors = []
    for i in range(head // 2):
        turns = SCALING["original_max_position_embeddings"] / (2 * math.pi * THETA ** (2 * i / head))
        low, high = SCALING["low_freq_factor"], SCALING["high_freq_factor"]
        keep = min(1.0, max(0.0, (turns - low) / (high - low)))
        factors.append(1 / ((1 - keep) / SCALING["factor"] + keep))
    return numpy.array(factors, numpy.float32)


def write_twins(folder, s, pick, rng):
    out = gguf.GGUFWriter(os.path.join(folder, "twin.gguf"), s["family"])
    out.add_context_length(512)
    out.add_embedding_length(s["hidden"])
    out.add_block_count(s["layers"])
    out.add_feed_forward_length(s["intermediate"])
    out.add_head_count(s["heads"])
    out.add_head_count_kv(s["kv_heads"])
    out.add_key_length(s["head"])
    out.add_value_length(s["head"])
    out.add_rope_dimension_count(s["head"])
    out.add_rope_freq_base(THETA)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_vocab_size(s["vocab"])
    decoded = {}
    for name, gguf_name, values, heads in tensors_of(s, rng):
        kind = pick.choice(FLOATS + CODES if s["coded"] and values.ndim == 2 else FLOATS)
        raw = gguf.quants.quantize(values, kind)
        out.add_tensor(gguf_name, raw, raw_dtype=kind)
        back = gguf.quants.dequantize(raw, kind).reshape(values.shape)
        paired = heads and s["family"] in PAIRED
        decoded[name] = numpy.ascontiguousarray(separate(back, heads) if paired else back, numpy.float32)
    if s["factors"]:
        out.add_tensor("rope_freqs.weight", rope_factors(s["head"]))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    save_file(decoded, os.path.join(folder, "model.safetensors"))
    config = {"model_type": s["family"], "vocab_size": s["vocab"], "hidden_size": s["hidden"], "head_dim": s["head"],
              "num_hidden_layers": s["layers"], "intermediate_size": s["intermediate"],
              "num_attention_heads": s["heads"], "num_key_value_heads": s["kv_heads"], "rms_norm_eps": 1e-5,
              "max_position_embeddings": 512, "tie_word_embeddings": s["tied"], "rope_theta": THETA,
              "attention_bias": s["attention_bias"], "mlp_bias": s["mlp_bias"],
              "rope_scaling": SCALING if s["factors"] else None}
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def check_twins(c, binary, seed, family):
    pick, rng = random.Random(seed), numpy.random.default_rng(seed)
    s = draw_shape(pick, family)
    name = f"twins {seed} {s}"
    ids = [int(i) for i in rng.integers(0, s["vocab"], 300)]
    with tempfile.TemporaryDirectory() as folder:
        write_twins(folder, s, pick, rng)
        twin = os.path.join(folder, "twin.gguf")
        try:
            expected = checks.logits(binary, folder, ids, POSITIONS)
            got = checks.logits(binary, twin, ids, POSITIONS)
            off = float(numpy.abs(got - expected).max())
            c.check(f"{name}: logits", off <= BOUND, f"{off:.2e} off, at most {BOUND} allowed")
            for way in WAYS:
                other = checks.logits(binary, twin, ids, POSITIONS, *way)
                c.check(f"{name}: same bits with {way}", numpy.array_equal(got.view("u4"), other.view("u4")))
        except checks.CommandFailed as failure:
            c.check(name, False, str(failure))


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    for seed in range(200 if arguments.full else 10):
        check_twins(c, arguments.binary, seed, "llama")
    for seed in range(100 if arguments.full else 5):
        check_twins(c, arguments.binary, seed, "qwen3")
    c.close()


main()
