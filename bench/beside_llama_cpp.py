#!/usr/bin/env python3
"""Speed beside llama.cpp: the same GGUF, the same threads, alternating runs in one script, ratios of medians.

Each round runs ours, then theirs, for a prompt, for decoding after a short prompt and for decoding at a depth. Ours is
the `bench` command in a fresh process; theirs is llama-cpp-python's low-level interface in a fresh process (flash
attention on, greedy). Before any timing the greedy tokens of both are compared for one prompt, and how many agree is
printed: theirs rounds activations to 8 bits, so a long reply may part from ours where two tokens are close. Prints one
JSON object a measurement and a table at the end; exits 1 when a floor is missed.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

FLOORS = {("decode", 1): 1.6, ("decode", 2): 2.0, ("prompt", 1): 4.0, ("prompt", 2): 4.0,
          ("deep decode", 1): 1.6, ("deep decode", 2): 1.6}


SHORT = 16  # prompt tokens before a short decode


def filler(n):
    return [(i * 7919 + 11) % 40000 + 100 for i in range(n)]


def theirs(model, threads, n_prompt, n_decode, depth):
    """Runs in a child process: returns prompt and decode tokens a second and the greedy ids."""
    import ctypes
    import llama_cpp as lib
    lib.llama_backend_init()
    quiet = lib.llama_log_callback(lambda level, text, data: None)
    lib.llama_log_set(quiet, ctypes.c_void_p(0))
    params = lib.llama_model_default_params()
    loaded = lib.llama_model_load_from_file(model.encode(), params)
    options = lib.llama_context_default_params()
    options.n_ctx = max(n_prompt, depth) + n_decode + 64
    options.n_batch = options.n_ubatch = 512
    options.n_threads = options.n_threads_batch = threads
    options.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
    context = lib.llama_init_from_model(loaded, options)
    vocab = lib.llama_model_n_vocab(loaded) if hasattr(lib, "llama_model_n_vocab") else \
        lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(loaded))
    import numpy as np

    def feed(ids):
        array = (lib.llama_token * len(ids))(*ids)
        if lib.llama_decode(context, lib.llama_batch_get_one(array, len(ids))) != 0:
            raise SystemExit("llama_decode failed")

    def best():
        logits = np.ctypeslib.as_array(lib.llama_get_logits_ith(context, -1), shape=(vocab,))
        return int(logits.argmax())

    def clear():
        lib.llama_memory_clear(lib.llama_get_memory(context), True)

    def filled(n):
        ids = filler(n)
        for at in range(0, n, 512):
            feed(ids[at:at + 512])

    feed([1, 2, 3])  # warm up
    clear()
    begin = time.perf_counter()
    filled(n_prompt)
    prompt = n_prompt / (time.perf_counter() - begin)
    clear()
    filled(depth)
    ids, begin = [], time.perf_counter()
    for _ in range(n_decode):
        ids.append(best())
        feed([ids[-1]])
    return {"prompt_tps": prompt, "decode_tps": n_decode / (time.perf_counter() - begin), "ids": ids}


def child(args, threads, depth):
    command = [sys.executable, __file__, "--child", "--model", args.model, "--threads", str(threads),
               "--prompt-tokens", str(args.prompt_tokens), "--decode-tokens", str(args.decode_tokens),
               "--depth", str(depth)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def ours(args, threads, depth):
    command = [args.binary, "bench", args.model, "--json", "--threads", str(threads), "--runs", "1",
               "--prompt-tokens", str(args.prompt_tokens), "--decode-tokens", str(args.decode_tokens),
               "--depth", str(depth)]
    if args.isa:
        command += ["--isa", args.isa]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare_tokens(args):
    ids = ",".join(map(str, filler(SHORT)))
    command = [args.binary, "generate", args.model, "--ids", ids, "--max-tokens", "32", "--temperature", "0", "--json"]
    mine = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["ids"]
    other = child(args, 1, SHORT)["ids"][:32]
    agree = next((i for i in range(32) if mine[i] != other[i]), 32)
    print(f"greedy tokens that agree: {agree} of 32", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="build/tensorfold")
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prompt-tokens", type=int, default=512)
    parser.add_argument("--decode-tokens", type=int, default=128)
    parser.add_argument("--depth", type=int, default=1024)
    parser.add_argument("--isa", default="")
    parser.add_argument("--child", action="store_true")
    args = parser.parse_args()
    if args.child:
        print(json.dumps(theirs(args.model, int(args.threads), args.prompt_tokens, args.decode_tokens, args.depth)))
        return 0
    compare_tokens(args)
    missed, rows = 0, []
    for threads in [int(t) for t in args.threads.split(",")]:
        samples = {name: ([], []) for name in ("decode", "prompt", "deep decode")}
        for _ in range(args.rounds):
            for depth, decode in ((SHORT, "decode"), (args.depth, "deep decode")):
                a, b = ours(args, threads, depth), child(args, threads, depth)
                samples[decode][0].append(a["decode_tps"])
                samples[decode][1].append(b["decode_tps"])
                samples["prompt"][0].append(a["prompt_tps"])
                samples["prompt"][1].append(b["prompt_tps"])
        for name, (a, b) in samples.items():
            ratio = statistics.median(a) / statistics.median(b)
            floor = FLOORS.get((name, threads))
            ok = floor is None or ratio >= floor
            missed += not ok
            rows.append(f"{name:12s} {threads} threads: ours {statistics.median(a):8.1f} [{min(a):.1f}..{max(a):.1f}] "
                        f"llama.cpp {statistics.median(b):8.1f} [{min(b):.1f}..{max(b):.1f}] tok/s, ratio {ratio:.2f}"
                        + (f" (floor {floor}: {'holds' if ok else 'MISSED'})" if floor else ""))
            print(json.dumps({"what": name, "threads": threads, "ours": a, "theirs": b, "ratio": ratio}), flush=True)
    print("\n".join(rows))
    checks = sum(1 for row in rows if "floor" in row)
    print(f"{checks - missed} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
