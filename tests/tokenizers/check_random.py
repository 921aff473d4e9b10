"""Random strings through `tensorfold tokenize` and through Hugging Face's `tokenizers`: the same ids, the same text."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
sys.path.insert(0, os.path.dirname(__file__))
import checks
import oracles
from random_text import LAST, Text, compare, lines


def check_oracle(c, binary, oracle, count, seed):
    text = Text(seed, oracle.added)
    texts = [text.next() for _ in range(count)]
    t = oracle.tokenizer
    ids = [e.ids for e in t.encode_batch(texts, add_special_tokens=False)]
    name = f"{oracle.name}, seed {seed}: {count} strings"
    compare(c, f"{name} to ids", texts, ids, lines(binary, oracle.model, texts))
    compare(c, f"{name} back to text", ids, t.decode_batch(ids, skip_special_tokens=False),
            lines(binary, oracle.model, ids, "--decode"))
    few = texts[: count // 5]
    compare(c, f"{name}, a fifth with --special", few, [e.ids for e in t.encode_batch(few)],
            lines(binary, oracle.model, few, "--special"))
    few = [text for text in few if "<unk>" not in text]  # as data it is not the unknown token here
    compare(c, f"{name}, a fifth with --plain", few,
            [e.ids for e in oracle.without_added.encode_batch(few, add_special_tokens=False)],
            lines(binary, oracle.model, few, "--plain"))
    if oracle.whole_bytes:
        check_shuffled(c, binary, oracle, text.draw, len(few))


def check_shuffled(c, binary, oracle, draw, count):
    """Ids in no sensible order: characters cut anywhere."""
    known = sorted(oracle.tokenizer.get_vocab().values())
    shuffled = [draw.choices(known, k=draw.randrange(12)) for _ in range(count)]
    compare(c, f"{oracle.name}: {count} rows of shuffled ids to text", shuffled,
            oracle.tokenizer.decode_batch(shuffled, skip_special_tokens=False),
            lines(binary, oracle.model, shuffled, "--decode"))


# Thousands of characters that are all alike: every 97th of them will do.
ALIKE = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xAC00, 0xD7A4), range(0xE000, 0xF900),
         range(0x20000, 0xE0000), range(0xE1000, LAST + 1))


def check_every_character(c, binary, oracle):
    """Each code point between letters, blanks, digits, marks and itself."""
    alike = {x for r in ALIKE for x in r if x % 97 and x not in (r.start, r.stop - 1)}
    characters = [chr(x) for x in range(LAST + 1) if not 0xD800 <= x <= 0xDFFF and x not in alike]
    texts = [f"a{x}b {x} {x}{x}1{x}\u0316\u0301 '{x}\n{x}" for x in characters]
    compare(c, f"{oracle.name}: {len(characters)} characters", texts,
            [e.ids for e in oracle.tokenizer.encode_batch(texts, add_special_tokens=False)],
            lines(binary, oracle.model, texts))


def main():
    def extend(parser):
        parser.add_argument("--count", type=int, help="strings for each tokenizer")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--part", default="1/1", help="I/N: every N-th tokenizer from the I-th")
    arguments = checks.parse_arguments(__doc__, extend)
    count = arguments.count or (100000 if arguments.full else 300)
    c = checks.Checks()
    with tempfile.TemporaryDirectory() as folder:
        found = [*(oracles.stored(name, folder, arguments.tests) for name in ("qwen3", "deepseek_v3")),
                 *oracles.trained_all(folder, arguments.seed)]
        if arguments.model and os.path.exists(arguments.model):
            found.append(oracles.smollm2(arguments.model))
        else:
            c.check("the default model is there", False, arguments.model)
        part, parts = map(int, arguments.part.split("/"))
        for oracle in found[part - 1::parts]:
            try:
                check_oracle(c, arguments.binary, oracle, count, arguments.seed)
                if arguments.full and (oracle.name in oracles.BY_HAND or oracle.name.startswith("normalizer ")):
                    check_every_character(c, arguments.binary, oracle)
            except checks.CommandFailed as failure:
                c.check(oracle.name, False, str(failure))
    c.close()


main()
