"""Stored ids of real texts in both directions, and the time that texts of one repeated character take."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
sys.path.insert(0, os.path.dirname(__file__))
import checks
import oracles
from tokenize_session import Session

LONG_BYTES = 1000000
LONG_SECONDS = 2.0  # for LONG_BYTES of one character
GROWTH = 2.3        # twice the length may take this many times as long: each text with --full, and the middle one of
                    # all texts otherwise
GROWTH_NOISY = 3.2  # what no text may pass on a busy machine; quadratic time gives 4
ATTEMPTS = 12       # at most
LONG = {"letter": "a", "blank": " ", "line end": "\n", "digit": "1", "mark of punctuation": "!", "quote": "'",
        "accented letter": "\u00e9", "accent": "\u0301", "two accents out of order": "\u0301\u0316",
        "Hangul in parts": "\u1112\u1161\u11ab", "Han": "\u4e2d", "emoji": "\U0001f600"}


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


def growth(once, twice):
    """How many times as long twice the text takes, from times measured in turns; the better of two estimates counts.

    The least times are right when other work on the machine comes and goes, the middle of the neighbours' ratios when
    it lasts; where time is quadratic both are near 4."""
    ratios = sorted(b / a for a, b in zip(once, twice))
    return min(min(twice) / min(once), ratios[len(ratios) // 2])


def measure(session, text, attempts):
    """The least time, the growth, and the ids of the text and of twice the text; stops early when time is linear."""
    once, twice = [], []
    for _ in range(attempts):
        t, ids = session.ask(text)
        once.append(t)
        t, ids_twice = session.ask(text * 2)
        twice.append(t)
        if min(once) < LONG_SECONDS and growth(once, twice) <= GROWTH:
            break
    return min(once), growth(once, twice), ids, ids_twice


def check_long(c, session, texts, limits, full):
    growths = []
    for name, character in texts.items():
        text = character * (LONG_BYTES // len(character.encode()))
        seconds, times, ids, ids_twice = measure(session, text, ATTEMPTS if limits else 1)
        c.check(f"{name}, repeated: twice the text has more ids", len(ids_twice) > len(ids) > 0)
        if limits:
            growths.append(times)
            most = GROWTH if full else GROWTH_NOISY
            c.check(f"{name}, repeated: time", seconds < LONG_SECONDS,
                    f"{seconds:.2f} s, at most {LONG_SECONDS} allowed")
            c.check(f"{name}, repeated: growth", times <= most,
                    f"twice the text took {times:.2f} times as long, at most {most} allowed")
    if limits:
        middle = sorted(growths)[len(growths) // 2]
        c.check("growth of the middle text", middle <= GROWTH, f"{middle:.2f} times as long, at most {GROWTH} allowed")


def check_tokenizer(c, arguments, name, folder):
    oracle = oracles.stored(name, folder, arguments.tests)
    check_stored(c, arguments.binary, oracle.model, os.path.join(arguments.tests, "tokenizers", name, "vectors.json"))
    session = Session(arguments.binary, oracle.model)
    texts = {**LONG, "added token": oracle.added[0]}
    check_long(c, session, texts, not arguments.no_time_limits, arguments.full)
    c.equal("status of the session", 0, session.close())


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("qwen3", "deepseek_v3"):
            try:
                check_tokenizer(c, arguments, name, folder)
            except checks.CommandFailed as failure:
                c.check(name, False, str(failure))
    c.close()


main()
