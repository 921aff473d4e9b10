#!/usr/bin/env python3
"""Second tier: random llama checkpoints made by transformers, in many shapes and spellings, against its float32 logits.

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
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

logging.disable_progress_bar()
logging.set_verbosity_error()

LLAMA3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 128}


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
]


def respell(folder, extra):
    """rope_theta + rope_scaling at top level, torch_dtype, and no head_dim: as files of some years ago have it."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    config["torch_dtype"] = config.pop("dtype", "bfloat16")
    if extra.get("no_head_dim"):
        config.pop("head_dim", None)
    path.write_text(json.dumps(config))


def make(folder, case, seed):
    name, hidden, intermediate, heads, kv_heads, head, vocab, layers, extra = case
    torch.manual_seed(seed)
    options = {"max_position_embeddings": 4096}
    options.update({k: v for k, v in extra.items() if k not in ("dtype", "shards", "old", "no_head_dim", "spell")})
    config = LlamaConfig(hidden_size=hidden, intermediate_size=intermediate, num_attention_heads=heads,
                         num_key_value_heads=kv_heads, head_dim=head, vocab_size=vocab, num_hidden_layers=layers,
                         **copy.deepcopy(options))
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for key, value in model.named_parameters():
            if key.endswith("norm.weight"):
                value.copy_(1 + 0.2 * torch.randn_like(value))
            elif key.endswith("bias"):
                value.copy_(0.2 * torch.randn_like(value))
            else:
                value.copy_(torch.randn_like(value) / (value.shape[-1] ** 0.5) * 1.5)
    model = model.to(extra.get("dtype", torch.bfloat16))
    model.save_pretrained(folder, max_shard_size=extra.get("shards", "5GB"))
    if "spell" in extra:
        path = folder / "config.json"
        config = json.loads(path.read_text())
        extra["spell"](config)
        path.write_text(json.dumps(config))
    # Read back rather than cast: a cast to bfloat16 and back would leave rounded rope frequencies in the model.
    reference = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
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
        logits = model(torch.tensor([prompt])).logits[0].numpy()
        ids, margins, past = list(prompt), [], None
        feed = torch.tensor([prompt])
        for _ in range(32):
            out = model(feed, past_key_values=past, use_cache=True)
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
