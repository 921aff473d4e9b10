"""MB of English a second on one core, ours beside `tokenizers`.

bench/tokenizer.py --binary build/tensorfold [--model FOLDER]

The text is the prose that Python ships with its help, some MB of it; the tokenizer is the stored one of Qwen3 unless a
folder with a tokenizer.json is named. The ids are compared first. Ours is the processor time of a command that stays
open, reading and writing JSON included, for the whole text and for lines of 4,096 characters; theirs is one call on one
thread for the whole text."""
import argparse
import json
import lzma
import os
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402 (it reads the variable)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from tokenize_session import Session  # noqa: E402

TEXT_BYTES = 4 << 20
LINE = 4096  # characters
ATTEMPTS = 9


def prose():
    from pydoc_data import topics
    text = "\n\n".join(topics.topics[name] for name in sorted(topics.topics))
    return (text * (TEXT_BYTES // len(text) + 1))[:TEXT_BYTES]


def stored_model(folder):
    with lzma.open(os.path.join(ROOT, "tests", "tokenizers", "qwen3", "tokenizer.json.xz")) as f:
        text = f.read()
    with open(os.path.join(folder, "tokenizer.json"), "wb") as f:
        f.write(text)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--model", help="a folder with a tokenizer.json")
    arguments = parser.parse_args()
    text = prose()
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or stored_model(folder)
        begin = time.perf_counter()
        ours = Session(arguments.binary, model)
        load_ms = (time.perf_counter() - begin) * 1e3
        theirs = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
        lines = [text[i:i + LINE] for i in range(0, len(text), LINE)]
        our_seconds, line_seconds, their_seconds = [], [], []
        for _ in range(ATTEMPTS):
            seconds, ids = ours.ask(text)
            our_seconds.append(seconds)
            line_seconds.append(sum(ours.ask(line)[0] for line in lines))
            begin = time.process_time()
            expected = theirs.encode(text, add_special_tokens=False).ids
            their_seconds.append(time.process_time() - begin)
            if ids != expected:
                sys.exit("the ids differ")
        ours.close()
    for name, seconds in (("tensorfold", our_seconds), ("tensorfold, in lines", line_seconds),
                          ("tokenizers", their_seconds)):
        speeds = sorted(len(text) / 1e6 / s for s in seconds)
        print(f"{name}: {speeds[len(speeds) // 2]:.1f} MB/s in the middle, {speeds[0]:.1f} to {speeds[-1]:.1f}")
    print(f"tensorfold: start and load {load_ms:.0f} ms")


main()
