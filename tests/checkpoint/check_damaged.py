"""Damaged checkpoints: each a small change of a good one, refused at once with one message that names what is wrong."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks
from checkpoint_folder import CONFIG, INDEX, ST, Folder, tensors

SECONDS = 5
PEAK_KB = 200 * 1024
EMBED = "model.embed_tokens.weight"
Q = "model.layers.0.self_attn.q_proj.weight"


def entry_case(name, **changes):
    def change(f):
        f.header[name].update(changes)
    return change


def config_case(**changes):
    def change(f):
        f.config.update(changes)
        f.config = {key: value for key, value in f.config.items() if value is not ...}
    return change


def attributes(**values):
    def change(f):
        for name, value in values.items():
            setattr(f, name, value)
    return change


def shift(name, by):
    def change(f):
        f.header[name]["data_offsets"] = [at + by for at in f.header[name]["data_offsets"]]
    return change


def in_order(f, i):
    """The i-th tensor by its place in the file."""
    return sorted(tensors(f.header), key=lambda name: f.header[name]["data_offsets"])[i]


def duplicate(f):
    text = json.dumps(f.header)
    f.header_text = (text[:-1] + f', "{Q}": ' + json.dumps(f.header[Q]) + "}").encode()


def gap(f):
    name = in_order(f, 1)
    start = f.header[name]["data_offsets"][0]
    f.data = f.data[:start] + b"\0" * 64 + f.data[start:]
    for entry in tensors(f.header).values():
        if entry["data_offsets"][0] >= start:
            entry["data_offsets"] = [at + 64 for at in entry["data_offsets"]]


def index_case(edit):
    def change(f):
        index = f.split()
        f.put_index(edit(index, f) or index)
    return change


def set_shard(name, shard):
    return lambda index, f: index["weight_map"].__setitem__(name, shard)


def transpose(f):
    f.header["model.layers.0.mlp.down_proj.weight"]["shape"].reverse()


def odd_type(f):
    entry = f.header[Q]
    entry["dtype"] = "U16"


DEEP = b'{"model_type": "llama", "ignored": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

# name, change, words that the one message has to hold
FOLDER_CASES = [
    ("cut in the data", attributes(cut=-100), [ST, "cut short"]),
    ("cut in the header", attributes(cut=200), [ST, "header length"]),
    ("cut in the length", attributes(cut=7), [ST, "7 bytes"]),
    ("empty file", attributes(cut=0), [ST, "0 bytes"]),
    ("header length 0", attributes(length=0), [ST, "header of 0 bytes"]),
    ("header length 7", attributes(length=7), [ST, "header"]),
    ("header length 2^63", attributes(length=1 << 63), [ST, "9223372036854775808"]),
    ("header length over 100 MB", attributes(length=100_000_001), [ST, "100000001"]),
    ("header is no JSON", attributes(header_text=b"{nothing}"), [ST, "line 1"]),
    ("header nests deeply", attributes(header_text=b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), [ST, "nested"]),
    ("header holds NaN", attributes(header_text=b'{"a":NaN}'), [ST, "line 1"]),
    ("duplicate name", duplicate, [ST, Q, "twice"]),
    ("overlap", shift(Q, -2), [ST, Q, "inside"]),
    ("gap", gap, [ST, "gap"]),
    ("bytes left over", lambda f: setattr(f, "data", f.data + b"\0" * 9), [ST, "9 bytes"]),
    ("reversed offsets", lambda f: f.header[Q]["data_offsets"].reverse(), [ST, Q, "reversed"]),
    ("offsets past the end", shift(EMBED, 1 << 40), [ST, EMBED, "ends at byte"]),
    ("unknown dtype", entry_case(Q, dtype="F33"), [ST, Q, "F33"]),
    ("dtype of a quantised file", entry_case(Q, dtype="Q4_0"), [ST, Q, "Q4_0"]),
    ("shape disagrees with its bytes", entry_case(Q, shape=[1, 2]), [ST, Q, "span"]),
    ("shape overflows", entry_case(Q, shape=[1 << 33, 1 << 33]), [ST, Q, "overflow"]),
    ("negative dimension", entry_case(Q, shape=[-1, 96]), [ST, Q, "shape"]),
    ("offsets missing", entry_case(Q, data_offsets=None), [ST, Q, "data_offsets"]),
    ("entry is a list", lambda f: f.header.__setitem__(Q, [1]), [ST, Q, "object"]),
    ("odd metadata", lambda f: f.header.__setitem__("__metadata__", {"format": 1}), [ST, "__metadata__"]),
    ("no weights", lambda f: f.files.__setitem__(ST, None), [ST]),
    ("missing shard", index_case(set_shard(Q, "model-00009-of-00002.safetensors")), [INDEX, "model-00009-of-00002"]),
    ("index names the wrong shard", index_case(set_shard(EMBED, "model-00002-of-00002.safetensors")), [INDEX, EMBED]),
    ("index leaves a tensor out", index_case(lambda i, f: i["weight_map"].pop(Q) and None), [INDEX, Q]),
    ("index names a tensor too many", index_case(set_shard("ghost", "model-00001-of-00002.safetensors")),
     [INDEX, "ghost"]),
    ("shard outside the folder", index_case(set_shard(Q, "../x.safetensors")), [INDEX, Q]),
    ("shard by an absolute path", index_case(set_shard(Q, "/etc/passwd")), [INDEX, Q]),
    ("shard named by a number", index_case(set_shard(Q, 7)), [INDEX, Q]),
    ("index without a map", index_case(lambda i, f: {"metadata": {}}), [INDEX, "weight_map"]),
    ("index is no JSON", index_case(lambda i, f: b'{"weight_map": {'), [INDEX, "line 1"]),
    ("no config", lambda f: f.files.__setitem__(CONFIG, None), [CONFIG]),
    ("config is no JSON", attributes(config_text=b"model_type: llama"), [CONFIG, "line 1"]),
    ("config is empty", attributes(config_text=b" "), [CONFIG]),
    ("config is a list", attributes(config_text=b"[]"), [CONFIG, "object"]),
    ("config nests deeply", attributes(config_text=DEEP), [CONFIG, "nested"]),
    ("config holds NaN", attributes(config_text=b'{"model_type": "llama", "rms_norm_eps": NaN}'), [CONFIG, "line 1"]),
    ("config repeats a key", attributes(config_text=b'{"model_type": "llama", "model_type": "x"}'),
     [CONFIG, "model_type"]),
    ("missing key", config_case(hidden_size=...), [CONFIG, "hidden_size"]),
    ("key of the wrong type", config_case(num_hidden_layers="three"), [CONFIG, "num_hidden_layers"]),
    ("fraction for a whole number", config_case(num_attention_heads=4.5), [CONFIG, "num_attention_heads"]),
    ("negative size", config_case(vocab_size=-512), [CONFIG, "vocab_size"]),
    ("no layers", config_case(num_hidden_layers=0), [CONFIG, "num_hidden_layers"]),
    ("size beyond reason", config_case(intermediate_size=1 << 62), [CONFIG, "intermediate_size"]),
    ("heads that do not divide", config_case(num_key_value_heads=3), [CONFIG, "3 kv heads"]),
    ("unknown family", config_case(model_type="mamba9"), [CONFIG, "mamba9"]),
    ("unknown rotary scaling", config_case(rope_parameters={"rope_type": "spiral", "rope_theta": 1e4}),
     [CONFIG, "spiral"]),
    ("rotary settings of the wrong type", config_case(rope_parameters=5), [CONFIG, "rope_parameters"]),
    ("missing tensor", lambda f: f.drop(Q), [Q]),
    ("missing output matrix", lambda f: f.drop("lm_head.weight"), ["lm_head.weight"]),
    ("missing bias", lambda f: f.drop("model.layers.1.mlp.up_proj.bias"), ["model.layers.1.mlp.up_proj.bias"]),
    ("wrong shape", transpose, [ST, "model.layers.0.mlp.down_proj.weight"]),
    ("weights in a whole-number dtype", odd_type, [ST, Q, "U16"]),
    ("extra bias", lambda f: f.add("model.layers.0.input_layernorm.bias", "BF16", [96], b"\0" * 192),
     [ST, "model.layers.0.input_layernorm.bias"]),
    ("more layers than tensors", config_case(num_hidden_layers=4), ["model.layers.3."]),
]


LINEAR = "model.layers.0.linear_attn."


def turn_taps(layer):
    """One convolution as a converter leaves it, among others as they were published."""
    def change(f):
        f.header[f"model.layers.{layer}.linear_attn.conv1d.weight"]["shape"] = [320, 4, 1]
    return change


def nest(**changes):
    """All settings inside text_config, some of them changed there."""
    def change(f):
        f.config = {"model_type": "qwen3_5", "text_config": {**f.config, **changes}}
    return change


def types(*names):
    return config_case(layer_types=list(names))


HYBRID_CASES = [
    ("no gate on attention", config_case(attn_output_gate=False), [CONFIG, "attn_output_gate"]),
    ("another gate on the delta rule", config_case(output_gate_type="sigmoid"), [CONFIG, "output_gate_type"]),
    ("another gate, nested", nest(output_gate_type="sigmoid"), [CONFIG, "text_config.output_gate_type"]),
    ("experts", nest(num_experts=8), [CONFIG, "text_config.num_experts"]),
    ("another family inside", nest(model_type="qwen3_5_moe_text"), [CONFIG, "text_config.model_type"]),
    ("quantised", config_case(quantization={"bits": 4, "group_size": 64}), [CONFIG, "quantization"]),
    ("missing key, nested", nest(linear_num_key_heads=None), [CONFIG, "text_config.linear_num_key_heads"]),
    ("key of the wrong type", config_case(linear_value_head_dim="wide"), [CONFIG, "linear_value_head_dim"]),
    ("value heads that do not divide", config_case(linear_num_key_heads=4), [CONFIG, "linear_num_value_heads"]),
    ("heads beyond reason", config_case(linear_key_head_dim=1 << 29), [CONFIG, "linear_key_head_dim"]),
    ("one tap", config_case(linear_conv_kernel_dim=1), [CONFIG, "linear_conv_kernel_dim"]),
    ("too many taps", config_case(linear_conv_kernel_dim=99), [CONFIG, "linear_conv_kernel_dim"]),
    ("too few kinds", types("full_attention"), [CONFIG, "layer_types"]),
    ("an unknown kind", types(*["sliding_attention"] * 6), [CONFIG, "layer_types", "sliding_attention"]),
    ("an interval of 0", config_case(layer_types=..., full_attention_interval=0), [CONFIG, "full_attention_interval"]),
    ("kinds unlike the tensors", types(*["full_attention"] * 6), ["model.layers.0.self_attn.q_proj.weight"]),
    ("kinds that leave tensors over", types(*["linear_attention"] * 6), ["model.layers.3.linear_attn.conv1d.weight"]),
    ("share above 1", config_case(rope_parameters={"rope_type": "default", "partial_rotary_factor": 1.5}),
     [CONFIG, "turned"]),
    ("share of nothing", config_case(rope_parameters={"rope_type": "default", "partial_rotary_factor": 0.01}),
     [CONFIG, "turned"]),
    ("negative share", config_case(rope_parameters={"rope_type": "default", "partial_rotary_factor": -0.5}),
     [CONFIG, "partial_rotary_factor"]),
    ("taps in two orders", turn_taps(2), [ST, "model.layers.2.linear_attn.conv1d.weight"]),
    ("taps without their middle", entry_case(LINEAR + "conv1d.weight", shape=[320, 4]), [ST, "conv1d.weight"]),
    ("wrong shape of the decay", entry_case(LINEAR + "A_log", shape=[3, 2]), [ST, LINEAR + "A_log"]),
    ("decay in whole numbers", entry_case(LINEAR + "A_log", dtype="I16"), [ST, LINEAR + "A_log", "I16"]),
    ("missing decay", lambda f: f.drop(LINEAR + "A_log"), [LINEAR + "A_log"]),
    ("missing step bias", lambda f: f.drop(LINEAR + "dt_bias"), [LINEAR + "dt_bias"]),
    ("missing norm of the delta rule", lambda f: f.drop(LINEAR + "norm.weight"), [LINEAR + "norm.weight"]),
    ("missing norm of the queries", lambda f: f.drop("model.layers.3.self_attn.q_norm.weight"),
     ["model.layers.3.self_attn.q_norm.weight"]),
    ("queries without gates", entry_case("model.layers.3.self_attn.q_proj.weight", shape=[384, 384]),
     [ST, "model.layers.3.self_attn.q_proj.weight", "[768, 192]"]),
    ("a bias on the convolution", lambda f: f.add(LINEAR + "conv1d.bias", "BF16", [320], b"\0" * 640),
     [ST, LINEAR + "conv1d.bias"]),
    ("scales beside a weight", lambda f: f.add(LINEAR + "out_proj.scales", "BF16", [4], b"\0" * 8),
     [ST, LINEAR + "out_proj.scales"]),
]

QWEN3_CASES = [
    ("a sliding window", config_case(use_sliding_window=True, sliding_window=64), [CONFIG, "use_sliding_window"]),
    ("layers with a window", types(*["sliding_attention"] * 4), [CONFIG, "layer_types", "sliding_attention"]),
    ("linear layers", types(*["linear_attention"] * 4), [CONFIG, "layer_types", "linear_attention"]),
    ("partial rotation", config_case(partial_rotary_factor=0.5), [CONFIG, "partial_rotary_factor"]),
    ("no head size", config_case(head_dim=...), [CONFIG, "head_dim"]),
    ("missing norm of the keys", lambda f: f.drop("model.layers.2.self_attn.k_norm.weight"),
     ["model.layers.2.self_attn.k_norm.weight"]),
    ("norm of another head size", entry_case("model.layers.1.self_attn.q_norm.weight", shape=[32, 2]),
     [ST, "model.layers.1.self_attn.q_norm.weight"]),
    ("biases without their tensors", config_case(attention_bias=True), ["model.layers.0.self_attn.q_proj.bias"]),
]

# what the cases damage, and the cases
FOLDERS = [("llama_scaled_bias", FOLDER_CASES), ("qwen3_5", HYBRID_CASES), ("qwen3", QWEN3_CASES)]


def write_gguf(path):
    """A small random llama model without an output matrix (tied), by an independent writer."""
    import gguf
    writer, rng = gguf.GGUFWriter(path, "llama"), numpy.random.default_rng(1)
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(96)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(32)
    shapes = {"token_embd": (32, 64), "output_norm": (64,), "blk.0.attn_norm": (64,), "blk.0.attn_q": (64, 64),
              "blk.0.attn_k": (32, 64), "blk.0.attn_v": (32, 64), "blk.0.attn_output": (64, 64),
              "blk.0.ffn_norm": (64,), "blk.0.ffn_gate": (96, 64), "blk.0.ffn_up": (96, 64), "blk.0.ffn_down": (64, 96)}
    for name, shape in shapes.items():
        writer.add_tensor(name + ".weight", rng.standard_normal(shape, dtype=numpy.float32) * 0.1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def poke(at, form, value):
    """Overwrites a number at a place, or behind a name, counted from its last byte."""
    def change(image):
        start = at if isinstance(at, int) else image.index(at[0].encode()) + len(at[0]) + at[1]
        raw = struct.pack("<" + form, value)
        return image[:start] + raw + image[start + len(raw):]
    return change


def rename(old, new):
    assert len(old) == len(new)
    return lambda image: image.replace(old.encode(), new.encode())


def chain(*changes):
    def change(image):
        for one in changes:
            image = one(image)
        return image
    return change


ALIGNMENT = "general.alignment"
GQ = "blk.0.attn_q.weight"  # described as: name, u32 dimensions, two u64 sizes, u32 type, u64 offset
GGUF_CASES = [
    ("magic", poke(0, "4s", b"GGML"), ["GGUF"]),
    ("version 1", poke(4, "I", 1), ["version 1"]),
    ("version 4", poke(4, "I", 4), ["version 4"]),
    ("big-endian", poke(4, "I", 0x03000000), ["big-endian"]),
    ("tensor count", poke(8, "Q", 1 << 60), ["1152921504606846976"]),
    ("one tensor too many", poke(8, "Q", 12), ["tensor"]),
    ("key count", poke(16, "Q", 1 << 60), ["1152921504606846976"]),
    ("key length", poke(24, "Q", 1 << 62), ["4611686018427387904"]),
    ("text length", poke(("general.architecture", 4), "Q", 1 << 40), ["general.architecture"]),
    ("value type", poke(("general.architecture", 0), "I", 99), ["general.architecture", "99"]),
    ("setting of the wrong type", poke(("llama.block_count", 0), "I", 6), ["llama.block_count"]),
    ("missing setting", rename("llama.embedding_length", "llama.embedding_lengtx"), ["llama.embedding_length"]),
    ("unknown architecture", rename("llama", "lambs"), ["lambs"]),
    ("hybrid architecture", lambda image: image.replace(b"\5\0\0\0\0\0\0\0llama", b"\6\0\0\0\0\0\0\0qwen35"),
     ["general.architecture", "qwen35"]),
    ("name twice", rename(GQ, "blk.0.attn_k.weight"), ["blk.0.attn_k.weight", "twice"]),
    ("missing tensor", rename(GQ, "blk.0.attn_x.weight"), [GQ]),
    ("dimensions 0", poke((GQ, 0), "I", 0), [GQ, "0 dimensions"]),
    ("dimensions 5", poke((GQ, 0), "I", 5), [GQ, "5 dimensions"]),
    ("size 0", poke((GQ, 4), "Q", 0), [GQ]),
    ("sizes overflow", chain(poke((GQ, 4), "Q", 1 << 40), poke((GQ, 12), "Q", 1 << 40)), [GQ, "overflow"]),
    ("size past the end", poke((GQ, 4), "Q", 1 << 30), [GQ, "past the end"]),
    ("type unread", poke((GQ, 20), "I", 12), [GQ, "Q4_K"]),
    ("type unknown", poke((GQ, 20), "I", 1234), [GQ, "1234"]),
    ("offset unaligned", poke((GQ, 24), "Q", 4), [GQ, "alignment"]),
    ("offset overlaps", poke((GQ, 24), "Q", 0), ["inside"]),
    ("offset past the end", poke((GQ, 24), "Q", 1 << 45), [GQ, "past the end"]),
    ("offset wraps", poke((GQ, 24), "Q", (1 << 64) - 32), [GQ, "past the end"]),
    ("alignment 0", chain(rename("llama.block_count", ALIGNMENT), poke((ALIGNMENT, 4), "I", 0)), [ALIGNMENT]),
    ("alignment 48", chain(rename("llama.block_count", ALIGNMENT), poke((ALIGNMENT, 4), "I", 48)), [ALIGNMENT, "48"]),
    ("cut in the data", lambda image: image[:-5000], ["cut short"]),
    ("cut in the metadata", lambda image: image[:330], ["330 bytes"]),
    ("cut in the descriptions", lambda image: image[:image.index(GQ.encode()) + 30], ["cut short"]),
    ("empty", lambda image: b"", ["GGUF"]),
    ("bytes left over", lambda image: image + b"\0" * 100, ["belong to no tensor"]),
]


def run_measured(command):
    """Status, stderr, seconds and peak memory in KB of a command; it is ended after four times the limit."""
    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - start > 4 * SECONDS:
                process.kill()
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return process.returncode, err.read().decode("utf-8", "replace"), time.monotonic() - start, usage.ru_maxrss


def check_refused(c, arguments, name, model, words):
    commands = {"info": ["info", model],
                "logits": ["logits", model, "--ids", "1,2", "--positions", "0", "--npy", model + ".npy"]}
    for command, rest in commands.items():
        status, message, seconds, peak = run_measured([arguments.binary, *rest])
        case = f"{name} ({command})"
        lines = message.rstrip("\n").split("\n")
        ok = c.check(case, status == 1, f"expected status 1, got {status}: {message[:300]!r}")
        ok = ok and c.check(case, len(lines) == 1 and lines[0], f"expected one message, got {message[:500]!r}")
        missing = [word for word in words if word not in message]
        ok = ok and c.check(case, not missing, f"expected {missing} in {message!r}")
        if ok and not arguments.no_time_limits:
            c.check(case, seconds < SECONDS, f"took {seconds:.1f} s, at most {SECONDS} are due")
            c.check(case, peak < PEAK_KB, f"took {peak} KB of memory, at most {PEAK_KB} are due")
        c.check(case, not os.path.exists(model + ".npy"), "left an output file")


def good_variants(tied, untied):
    """Checkpoints that look odd and are sound, beside the one whose logits they have to give."""
    f = Folder(untied)
    f.padding = b" " * (100_000 - len(json.dumps(f.header).encode()))
    yield "header of 100,000 bytes", f, untied
    f = Folder(untied)
    f.padding = b" " * (1 + len(json.dumps(f.header)) % 2)
    yield "misaligned tensors", f, untied
    f = Folder(untied)
    f.put_index(f.split())
    yield "two shards", f, untied
    f = Folder(untied)
    f.put_index({"weight_map": dict.fromkeys(tensors(f.header), ST)})
    yield "an index of one file", f, untied
    f = Folder(untied)
    for i, name in enumerate(("vision.patch.weight", "mtp.fc.weight", "extra")):
        f.add(name, "F32", [1, 1, 1, 1, i + 1], b"\0" * (4 * (i + 1)))
    yield "three unknown tensors", f, untied
    f = Folder(tied)
    f.config["tie_word_embeddings"] = False
    f.add("lm_head.weight", f.header[EMBED]["dtype"], f.header[EMBED]["shape"],
          f.data[slice(*f.header[EMBED]["data_offsets"])])
    yield "output matrix as a copy of the embedding", f, tied


def check_good(c, arguments, golden, folder):
    for name, f, same in good_variants(os.path.join(golden, "llama"), os.path.join(golden, "llama_scaled_bias")):
        path = os.path.join(folder, "good", name)
        f.write(path)
        try:
            expected, got = (checks.logits(arguments.binary, m, [1, 2, 3], [0, 2]) for m in (same, path))
            c.check(f"{name}: same logits", expected.tobytes() == got.tobytes(), "they differ")
        except checks.CommandFailed as failure:
            c.check(name, False, str(failure))


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    golden = os.path.join(arguments.tests, "golden")
    with tempfile.TemporaryDirectory() as folder:
        check_good(c, arguments, golden, folder)
        for source, cases in FOLDERS:
            for i, (name, change, words) in enumerate(cases):
                f, path = Folder(os.path.join(golden, source)), os.path.join(folder, f"{source}{i}")
                change(f)
                f.write(path)
                check_refused(c, arguments, f"{source}: {name}", path, words)
        good = os.path.join(folder, "good.gguf")
        write_gguf(good)
        status, message, _, _ = run_measured([arguments.binary, "info", good])
        c.check("GGUF as its writer left it", status == 0, message)
        with open(good, "rb") as file:
            image = file.read()
        for i, (name, change, words) in enumerate(GGUF_CASES):
            path = os.path.join(folder, f"case{i}.gguf")
            with open(path, "wb") as file:
                file.write(change(image))
            check_refused(c, arguments, "GGUF: " + name, path, [f"case{i}.gguf", *words])
    c.close()


main()
