#!/usr/bin/env python3
"""Second tier: random llama checkpoints made by transformers, in many shapes and spellings, against its float32 logits.

Every case is a folder as `save_pretrained` writes it (then respelled where the case says so), a 700-token prompt, the
logits of every 50th position and 32 greedy ids. Bounds: 1e-3 anywhere; ids equal up to the first margin under 2e-3.
"""
import argparse
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
    options = {k: v for k, v in extra.items() if k not in ("dtype", "shards", "old", "no_head_dim")}
    config = LlamaConfig(hidden_size=hidden, intermediate_size=intermediate, num_attention_heads=heads,
                         num_key_value_heads=kv_heads, head_dim=head, vocab_size=vocab, num_hidden_layers=layers,
                         max_position_embeddings=4096, **options)
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
            past, top = out.past_key_values, torch.topk(out.logits[0, -1], 2)
            margins.append(float(top.values[0] - top.values[1]))
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
    args, _ = parser.parse_known_args()
    passed = failed = 0
    for seed in range(args.seeds):
        for case in CASES:
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
