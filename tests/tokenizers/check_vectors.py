"""Stored ids of real texts in both directions, and the time that texts of one repeated character take."""
import json
import os
import resource
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
sys.path.insert(0, os.path.dirname(__file__))
import checks
import oracles

LONG_BYTES = 1000000
LONG_SECONDS = 2.0  # for LONG_BYTES of one character, beside loading
GROWTH = 2.3        # twice the length may take this many times as long: each text with --full, on an idle machine,
                    # and the middle one of all texts otherwise
GROWTH_NOISY = 3.2  # what no text may pass on a busy machine; quadratic time gives 4
LINES = 4           # texts of twice the length a run, against twice as many of the length: the same bytes, so that
                    # an error in the time of loading the tokenizer hardly moves their ratio
ATTEMPTS = 4        # at most; the best counts, since other work on the machine only ever adds time
LONG = {"letter": "a", "blank": " ", "line end": "\n", "digit": "1", "mark of punctuation": "!", "quote": "'",
        "accented letter": "\u00e9", "accent": "\u0301", "two accents out of order": "\u0301\u0316",
        "Hangul in parts": "\u1112\u1161\u11ab", "Han": "\u4e2d", "emoji": "\U0001f600", "added token": "<|im_end|>"}


def answers(binary, model, items, *options):
    data = "".join(json.dumps(item) + "\n" for item in items).encode()
    printed = checks.run(binary, "tokenize", model, "--jsonl", *options, stdin=data)
    return [json.loads(line) for line in printed.splitlines()]


def check_stored(c, binary, model, path):
    with open(path, encoding="utf-8") as f:
        cases = json.load(f)["cases"]
    texts, ids = [case["text"] for case in cases], [case["ids"] for case in cases]
    for what, expected, got in (
            ("ids", ids, answers(binary, model, texts)),
            ("ids with --special", [case.get("ids_special", case["ids"]) for case in cases],
             answers(binary, model, texts, "--special")),
            ("text", [case.get("decoded", case["text"]) for case in cases], answers(binary, model, ids, "--decode"))):
        c.equal(f"{what}: lines", len(cases), len(got))
        for text, e, g in zip(texts, expected, got):
            c.equal(f"{what} of {checks.shorten(text, 60)}", e, g)


def seconds(binary, model, text, lines):
    """Processor time of the command for so many times the text, and the ids of one."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    got = answers(binary, model, [text] * lines)[0]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, got


def check_long(c, binary, model, limits, full):
    growths = []
    load = min(seconds(binary, model, "", 1)[0] for _ in range(5 if limits else 1))
    for name, character in LONG.items():
        count = LONG_BYTES // len(character.encode())
        once = twice = float("inf")
        for _ in range(ATTEMPTS if limits else 1):
            t, ids = seconds(binary, model, character * count, 2 * LINES)
            once = min(once, (t - load) / (2 * LINES))
            t, ids_twice = seconds(binary, model, character * count * 2, LINES)
            twice = min(twice, (t - load) / LINES)
            if once < LONG_SECONDS and twice <= GROWTH * once:
                break
        c.check(f"{name}, repeated: twice the text has more ids", len(ids_twice) > len(ids) > 0)
        if limits:
            c.check(f"{name}, repeated: time", once < LONG_SECONDS, f"{once:.2f} s, at most {LONG_SECONDS} allowed")
            growths.append(twice / once)
            most = GROWTH if full else GROWTH_NOISY
            c.check(f"{name}, repeated: growth", twice <= most * once,
                    f"twice the text took {twice / once:.2f} times as long, at most {most} allowed")
    if limits:
        middle = sorted(growths)[len(growths) // 2]
        c.check("growth of the middle text", middle <= GROWTH, f"{middle:.2f} times as long, at most {GROWTH} allowed")


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    with tempfile.TemporaryDirectory() as folder:
        oracle = oracles.qwen3(folder, arguments.tests)
        try:
            check_stored(c, arguments.binary, oracle.model,
                         os.path.join(arguments.tests, "tokenizers", "qwen3", "vectors.json"))
            check_long(c, arguments.binary, oracle.model, not arguments.no_time_limits, arguments.full)
        except checks.CommandFailed as failure:
            c.check("command", False, str(failure))
    c.close()


main()
