"""The vocabularies that llama.cpp ships: its golden cases, and random strings beside `tokenizers`.

Second tier. The files come out of the source package of llama-cpp-python; --vocabs names a folder that has them."""
import glob
import os
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
sys.path.insert(0, os.path.dirname(__file__))
import checks
import ggml_vocabs
import llama_cpp_source
import oracles
from random_text import Text, compare, lines

EXPECTED = 19
LOOSE = ["e\u0301", "re\u0301sume\u0301", "a\u0300" * 200]  # those of qwen35's cases, as `tokenizers` has them
SEPARATOR = "\n__ggml_vocab_test__\n"


def golden_cases(path):
    """(text, ids) of a vocabulary; none where it has no files beside it.

    llama.cpp normalizes nothing, but the published tokenizer of qwen35 does: its texts with loose accents are left to
    the comparison with `tokenizers`."""
    if not os.path.exists(path + ".inp"):
        return []
    with open(path + ".inp", encoding="utf-8", newline="") as f:
        texts = f.read().split(SEPARATOR)
    with open(path + ".out", encoding="utf-8") as f:
        ids = [[int(x) for x in line.split()] for line in f.read().split("\n")]
    return [(text, row) for text, row in zip(texts[:-1] if texts[-1] == "" else texts, ids)
            if unicodedata.is_normalized("NFC", text)]


def check_golden(c, binary, path):
    cases = golden_cases(path)
    got = lines(binary, path, [text for text, _ in cases]) if cases else []
    for (text, ids), g in zip(cases, got):
        c.equal(f"{os.path.basename(path)}: {checks.shorten(text, 60)}", ids, g)


def check_every_mark(c, binary, oracle):
    """Each character behind ones that the precompiled map replaces: where does a cluster end?"""
    characters = [chr(x) for x in range(0x20000) if not 0xAC00 <= x <= 0xDFFF]
    texts = [f"\u00a0{x}\u00bd{x}e{x}{x}a" for x in characters]
    compare(c, f"{oracle.name}: every character", texts,
            [e.ids for e in oracle.tokenizer.encode_batch(texts, add_special_tokens=False)],
            lines(binary, oracle.model, texts))


def check_random(c, binary, oracle, count):
    text = Text(1, oracle.added)
    texts = LOOSE + [text.next() for _ in range(count)]
    ids = [e.ids for e in oracle.tokenizer.encode_batch(texts, add_special_tokens=False)]
    compare(c, f"{oracle.name}: {count} strings to ids", texts, ids, lines(binary, oracle.model, texts))
    compare(c, f"{oracle.name}: {count} strings back to text", ids,
            oracle.tokenizer.decode_batch(ids, skip_special_tokens=False), lines(binary, oracle.model, ids, "--decode"))


def main():
    def extend(parser):
        parser.add_argument("--vocabs", help="folder with ggml-vocab-*.gguf; fetched without it")
        parser.add_argument("--count", type=int, default=5000, help="random strings for each vocabulary")
    arguments = checks.parse_arguments(__doc__, extend)
    c = checks.Checks()
    vocabs = arguments.vocabs or llama_cpp_source.fetch(arguments.tests, "vocabs")
    paths = sorted(glob.glob(os.path.join(vocabs, "ggml-vocab-*.gguf")))
    c.equal("vocabularies", EXPECTED, len(paths))
    for path in paths:
        try:
            check_golden(c, arguments.binary, path)
            oracle = ggml_vocabs.oracle(path)
            check_random(c, arguments.binary, oracle, arguments.count)
            if "nomic" in path:
                check_every_mark(c, arguments.binary, oracle)
        except checks.CommandFailed as failure:
            c.check(os.path.basename(path), False, str(failure))
    c.close()


main()
