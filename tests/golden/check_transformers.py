#!/usr/bin/env python3
"""Second tier: random checkpoints made by transformers, in many shapes and spellings, against its float32 logits.

Every case is a folder as `save_pretrained` writes it (then respelled where the case says so), a 700-token prompt, the
logits of every 50th position and 32 greedy ids. Bounds: 1e-3 anywhere; ids equal up to the first margin under 2e-3.
"""
import argparse
import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from transformers import (LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM, Qwen3_5ForCausalLM,
                          Qwen3_5TextConfig)
from transformers.utils import logging

logging.disable_progress_bar()
logging.set_verbosity_error()

LLAMA3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 128}

CLASSES = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen3": (Qwen3Config, Qwen3ForCausalLM),
           "qwen3_5": (Qwen3_5TextConfig, Qwen3_5ForCausalLM)}


def linear(k_heads, v_heads, k, v, taps=4, attention=None, **extra):
    """A qwen3_5 case: heads of its linear layers, and which layers attend (None: every fourth)."""
    options = {"family": "qwen3_5", "linear_num_key_heads": k_heads, "linear_num_value_heads": v_heads,
               "linear_key_head_dim": k, "linear_value_head_dim": v, "linear_conv_kernel_dim": taps, **extra}
    if attention is not None:
        options["layer_types"] = ["full_attention" if c == "A" else "linear_attention" for c in attention]
    return options


def rope(theta, share):
    return {"rope_type": "default", "rope_theta": theta, "partial_rotary_factor": share}


# Spellings of a config.json that transformers itself reads; it judges them before we do.
def tie(config):
    config["tie_word_embeddings"] = True


def theta_inside(config):
    config["rope_scaling"] = config.pop("rope_parameters")
    config["rope_theta"] = 1000.0


def both_ropes(config):
    config["rope_scaling"] = {"type": "default", "rope_theta": 2000.0}


def empty_scaling(config):
    config["rope_scaling"] = {}


def no_original(config):
    del config["rope_parameters"]["original_max_position_embeddings"]


def original_on_top(config):
    config["original_max_position_embeddings"] = 300


def bare(config):
    for key in ("num_key_value_heads", "head_dim", "rope_parameters", "rms_norm_eps", "hidden_act", "attention_bias",
                "mlp_bias", "dtype", "architectures"):
        config.pop(key, None)
    config.update({"rope_scaling": None, "sliding_window": None, "pretraining_tp": 2, "an unknown key": {"a": [1]},
                   "eos_token_id": [2, 3, 5], "bos_token_id": None, "quantization_config": None})


CASES = [
    # hidden, intermediate, heads, kv heads, head size, vocab, layers, extra
    ("plain, tied", 96, 160, 4, 4, 24, 300, 2, {"tie_word_embeddings": True}),
    ("one kv head, untied", 72, 100, 6, 1, 16, 517, 3, {"tie_word_embeddings": False}),
    ("wide head", 64, 128, 2, 1, 128, 260, 2, {"tie_word_embeddings": True}),
    ("head size 80", 160, 224, 5, 5, 80, 300, 2, {}),
    ("many heads", 128, 320, 16, 4, 8, 300, 2, {}),
    ("biases everywhere", 96, 192, 4, 2, 32, 300, 3, {"attention_bias": True, "mlp_bias": True}),
    ("attention bias only", 96, 192, 4, 2, 32, 300, 2, {"attention_bias": True}),
    ("llama3 scaling", 64, 128, 4, 2, 64, 300, 3, {"rope_parameters": {
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}}),
    ("llama3 scaling by 32", 64, 128, 4, 2, 32, 300, 2, {"rope_parameters": {
        "rope_type": "llama3", "rope_theta": 1e6, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 256}}),
    ("large eps, odd vocabulary", 48, 88, 3, 3, 16, 1003, 2, {"rms_norm_eps": 1e-2}),
    ("float16 weights", 96, 160, 4, 2, 24, 300, 2, {"dtype": torch.float16}),
    ("float32 weights", 96, 160, 4, 2, 24, 300, 2, {"dtype": torch.float32}),
    ("shards", 96, 160, 4, 2, 24, 300, 3, {"shards": "60KB"}),
    ("old spelling", 64, 128, 4, 2, 32, 300, 2, {"old": True, "rope_parameters": {
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 128}}),
    ("old spelling, no head_dim", 96, 128, 4, 2, 24, 300, 2, {"old": True, "no_head_dim": True}),
    ("head size 6, three heads a kv head", 36, 50, 9, 3, 6, 37, 2, {"tie_word_embeddings": False}),
    ("head size 2, one token", 14, 22, 7, 1, 2, 1, 2, {}),
    ("head size 26, one head, one layer", 50, 33, 1, 1, 26, 17, 1, {}),
    ("head size 100, wide attention", 42, 77, 6, 2, 100, 301, 2, {"attention_bias": True}),
    ("head size 256", 72, 90, 2, 1, 256, 300, 2, {"mlp_bias": True}),
    ("many kv heads", 96, 160, 24, 12, 10, 300, 2, {"rope_parameters": {"rope_type": "default", "rope_theta": 7.5}}),
    ("short context", 96, 160, 4, 2, 24, 300, 2, {"max_position_embeddings": 740}),
    ("float16, untied, biases", 80, 144, 5, 5, 16, 333, 2,
     {"dtype": torch.float16, "tie_word_embeddings": False, "attention_bias": True, "mlp_bias": True}),
    ("a stored head beside a tie", 96, 160, 4, 2, 24, 300, 2, {"tie_word_embeddings": False, "spell": tie}),
    ("theta inside rope_scaling", 64, 128, 4, 2, 32, 300, 2, {"rope_parameters": LLAMA3, "spell": theta_inside}),
    ("both rope dictionaries", 64, 128, 4, 2, 32, 300, 2, {"rope_parameters": LLAMA3, "spell": both_ropes}),
    ("an empty rope_scaling", 64, 128, 4, 2, 32, 300, 2, {"rope_parameters": LLAMA3, "spell": empty_scaling}),
    ("no original context", 64, 128, 4, 2, 32, 300, 2,
     {"max_position_embeddings": 740, "rope_parameters": LLAMA3, "spell": no_original}),
    ("original context at the top", 64, 128, 4, 2, 32, 300, 2, {"rope_parameters": LLAMA3, "spell": original_on_top}),
    ("few keys, many unknown ones", 96, 160, 4, 4, 24, 300, 2, {"spell": bare}),
    ("qwen3, tied", 96, 160, 4, 2, 24, 300, 3, {"family": "qwen3", "tie_word_embeddings": True}),
    ("qwen3, biases", 72, 100, 6, 1, 16, 517, 3, {"family": "qwen3", "attention_bias": True}),
    ("qwen3, head size 128", 64, 96, 3, 3, 128, 300, 2, {"family": "qwen3"}),
    ("qwen3, float32", 80, 144, 5, 5, 18, 300, 2, {"family": "qwen3", "dtype": torch.float32}),
    ("qwen3, float16, biases", 80, 144, 8, 2, 32, 300, 2,
     {"family": "qwen3", "dtype": torch.float16, "attention_bias": True}),
    ("qwen3, llama3 scaling", 64, 128, 4, 2, 64, 300, 2, {"family": "qwen3", "rope_parameters": LLAMA3}),
    ("qwen3, old spelling", 64, 128, 4, 2, 32, 300, 2, {"family": "qwen3", "old": True}),
    ("qwen3, a window that is off", 64, 128, 4, 2, 32, 300, 2,
     {"family": "qwen3", "use_sliding_window": False, "sliding_window": 16, "max_window_layers": 1}),
    ("qwen3_5, as many value heads", 96, 160, 4, 2, 32, 300, 4, linear(4, 4, 16, 16)),
    ("qwen3_5, three value heads a key head", 96, 160, 4, 2, 32, 300, 8, linear(2, 6, 32, 32)),
    ("qwen3_5, wide keys", 80, 128, 4, 1, 40, 300, 4, linear(2, 4, 48, 24)),
    ("qwen3_5, wide values, tied", 64, 96, 2, 2, 64, 300, 4, linear(1, 5, 24, 72, tie_word_embeddings=True)),
    ("qwen3_5, head sizes 128", 96, 128, 2, 1, 256, 300, 4, linear(1, 3, 128, 128)),
    ("qwen3_5, odd sizes", 54, 70, 3, 1, 24, 301, 4, linear(3, 6, 10, 14)),
    ("qwen3_5, one of everything", 40, 48, 1, 1, 16, 37, 3, linear(1, 1, 8, 8, attention="LAL")),
    ("qwen3_5, attention first", 96, 160, 4, 2, 32, 300, 5, linear(2, 4, 16, 32, attention="ALLAL")),
    ("qwen3_5, linear only", 96, 160, 4, 2, 32, 300, 3, linear(2, 4, 16, 32, attention="LLL")),
    ("qwen3_5, attention only", 96, 160, 4, 2, 32, 300, 3, linear(2, 4, 16, 32, attention="AAA")),
    ("qwen3_5, biases", 96, 160, 4, 2, 32, 300, 4, linear(2, 4, 16, 32, attention_bias=True)),
    ("qwen3_5, two taps", 96, 160, 4, 2, 32, 300, 4, linear(2, 4, 16, 32, taps=2)),
    ("qwen3_5, seven taps", 96, 160, 4, 2, 32, 300, 4, linear(2, 4, 16, 32, taps=7)),
    ("qwen3_5, whole rotation", 64, 96, 4, 2, 32, 300, 4, linear(2, 2, 16, 16, rope_parameters=rope(1e4, 1.0))),
    ("qwen3_5, odd rotation", 64, 96, 4, 2, 20, 300, 4, linear(2, 2, 16, 16, rope_parameters=rope(1e6, 0.25))),
    ("qwen3_5, most of a head turned", 64, 96, 4, 2, 22, 300, 4, linear(2, 2, 16, 16, rope_parameters=rope(50, 0.7))),
    ("qwen3_5, float32", 96, 160, 4, 2, 32, 300, 4, linear(2, 4, 16, 32, dtype=torch.float32)),
    ("qwen3_5, float16, shards", 96, 160, 4, 2, 32, 300, 4,
     linear(2, 4, 16, 32, dtype=torch.float16, shards="100KB")),
    ("qwen3_5, large eps", 96, 160, 4, 2, 32, 300, 4, linear(2, 4, 16, 32, rms_norm_eps=1e-2)),
    ("qwen3_5, old spelling", 96, 160, 4, 2, 32, 300, 4, linear(2, 4, 16, 32, old=True)),
    ("qwen3_5, llama3 scaling", 64, 128, 4, 2, 64, 300, 4,
     linear(2, 2, 16, 16, rope_parameters={**LLAMA3, "partial_rotary_factor": 0.5})),
]

NOT_OPTIONS = ("dtype", "shards", "old", "no_head_dim", "spell", "family")


def respell(folder, extra):
    """rope_theta + rope_scaling at top level, torch_dtype, and no head_dim: as files of some years ago have it."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    if "partial_rotary_factor" in rope:
        config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    config["torch_dtype"] = config.pop("dtype", "bfloat16")
    if extra.get("no_head_dim"):
        config.pop("head_dim", None)
    path.write_text(json.dumps(config))


def fill(family, key, value):
    noise = torch.randn_like(value)
    if key.endswith("norm.weight"):
        value.copy_(0.2 * noise + (0 if family == "qwen3_5" and "linear_attn" not in key else 1))
    elif key.endswith("A_log"):
        value.copy_(1 + noise)
    elif key.endswith("bias"):
        value.copy_(0.2 * noise)
    else:
        value.copy_(noise / (value.shape[-1] ** 0.5) * 1.5)


def make(folder, case, seed):
    name, hidden, intermediate, heads, kv_heads, head, vocab, layers, extra = case
    torch.manual_seed(seed)
    options = {"max_position_embeddings": 4096}
    options.update({k: v for k, v in extra.items() if k not in NOT_OPTIONS})
    family = extra.get("family", "llama")
    config_class, model_class = CLASSES[family]
    config = config_class(hidden_size=hidden, intermediate_size=intermediate, num_attention_heads=heads,
                          num_key_value_heads=kv_heads, head_dim=head, vocab_size=vocab, num_hidden_layers=layers,
                          **copy.deepcopy(options))
    model = model_class(config)
    with torch.no_grad():
        for key, value in model.named_parameters():
            fill(family, key, value)
    model = model.to(extra.get("dtype", torch.bfloat16))
    model.save_pretrained(folder, max_shard_size=extra.get("shards", "5GB"))
    if "spell" in extra:
        path = folder / "config.json"
        config = json.loads(path.read_text())
        extra["spell"](config)
        path.write_text(json.dumps(config))
    # Read back rather than cast: a cast to bfloat16 and back would leave rounded rope frequencies in the model.
    reference = model_class.from_pretrained(folder, dtype=torch.float32).eval()
    if extra.get("old"):
        respell(folder, extra)
    return reference


def run(binary, *args):
    done = subprocess.run([binary, *args], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(args[:1])} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def check(binary, folder, case, seed):
    model = make(folder, case, seed)
    rng = np.random.default_rng(seed)
    prompt = [int(t) for t in rng.integers(0, case[6], 700)]
    positions = list(range(0, 700, 50)) + [699]
    with torch.no_grad():
        logits = model(torch.tensor([prompt]), use_cache=False).logits[0].numpy()
        ids, margins, past = list(prompt), [], None
        feed = torch.tensor([prompt])
        cached = "full_attention" in model.config.layer_types if case[-1].get("family") == "qwen3_5" else True
        for _ in range(32):
            out = model(feed if cached else torch.tensor([ids]), past_key_values=past, use_cache=cached)
            past, top = out.past_key_values, torch.topk(out.logits[0, -1], min(2, case[6]))
            margins.append(float(top.values[0] - top.values[-1]))
            ids.append(int(top.indices[0]))
            feed = torch.tensor([[ids[-1]]])
    (folder / "ids.json").write_text(json.dumps(prompt))
    run(binary, "logits", str(folder), "--ids", f"@{folder}/ids.json", "--positions",
        ",".join(map(str, positions)), "--npy", str(folder / "out.npy"))
    got = np.load(folder / "out.npy")
    worst = float(np.abs(got - logits[positions]).max())
    if worst > 1e-3:
        return f"expected logits within 1e-3, got {worst:.2e} off"
    reply = json.loads(run(binary, "generate", str(folder), "--ids", f"@{folder}/ids.json", "--max-tokens", "32",
                           "--temperature", "0", "--json"))["ids"]
    for i, (expected, given) in enumerate(zip(ids[700:], reply)):
        if margins[i] < 2e-3:
            break
        if expected != given:
            return f"greedy id {i}: expected {expected}, got {given}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="build/tensorfold")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    args, _ = parser.parse_known_args()
    passed = failed = 0
    for seed in range(args.seeds):
        for case in (case for case in CASES if args.only in case[0]):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    problem = check(args.binary, Path(folder), case, 1000 * seed + len(case[0]))
                except RuntimeError as error:
                    problem = str(error)
            passed += problem is None
            failed += problem is not None
            if problem:
                print(f"FAIL {case[0]} (seed {seed}): {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
