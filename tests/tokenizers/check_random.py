"""Random strings through `tensorfold tokenize` and through Hugging Face's `tokenizers`: the same ids, the same text."""
import json
import os
import random
import sys
import tempfile
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
sys.path.insert(0, os.path.dirname(__file__))
import checks
import oracles

LAST = 0x10FFFF
BLANKS = [" ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", "\v", "\f", "\x85", "\xa0", "\u1680", "\u180e", "\u2003",
          "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff", "\u200b"]
WORDS = """the of and to in is that it was for on are as with his they at be this from I have or by one had not but what
all were when we there can an your which their said if do will each about how up out them then she many some so these
would other into has more her two like him see time could no make than first been its who now people my made over did
down only way find use may water long little very after words called just where most know""".split()
QUOTES = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'Re", "'\u017f", "\u2019s", "'", "''", "'x", "'l",
          "'v", "'r"]
EMOJI = ["\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\u2764\ufe0f",
         "\U0001f1e9\U0001f1ea", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "1\ufe0f\u20e3"]
MARKS = [chr(c) for c in range(0x300, 0x323)] + list("\u0345\u0591\u064b\u0e38\u3099\u0653\u09be\u0b56")
HANGUL = list("\u1100\u1161\u11a8\u11a7\uac00\uac01\u1112\u1175\u11c2\ud7a3")
CODE = ["def f(x):\n    return x", "if (a[i] != 0) {\n\t", "}\n\n", "//", "/* */", "==", "->", "0x1F", "3.14", "1,000",
        "a_b", "CamelCase", "&&", "<tag>", "\\n", "%d", "#include <x>\n", "@", "$HOME", "https://e.x/a?b=c"]


class Text:
    """Draws strings for one tokenizer: short segments of many kinds, glued together."""

    def __init__(self, seed, added):
        self.draw = random.Random(seed)
        self.added = added
        # Where most scripts lie; a neighbourhood is drawn, then characters from it.
        self.starts = [c for c in range(0x80, 0x20000, 64) if not 0xD800 <= c <= 0xDFFF]
        d = self.draw
        self.kinds = [
            lambda: d.choice(WORDS), lambda: " " + d.choice(WORDS), lambda: d.choice(WORDS).capitalize(),
            lambda: " ", lambda: d.choice(BLANKS) * d.choice((1, 1, 2, 3, 7)),
            lambda: "".join(d.choices(BLANKS, k=d.randrange(1, 6))),
            lambda: str(d.randrange(10 ** d.randrange(1, 9))), lambda: d.choice(CODE), lambda: d.choice(QUOTES),
            lambda: chr(d.randrange(0x20)),
            lambda: "".join(chr(d.randrange(0x21, 0x7f)) for _ in range(d.randrange(1, 5))),
            lambda: d.choice(EMOJI) * d.choice((1, 1, 2)), self.neighbours, self.neighbours, self.anything, self.marked,
            lambda: "".join(d.choices(HANGUL, k=d.randrange(1, 6))), self.decomposed, self.added_token,
            self.added_token,
            lambda: d.choice("aZ .\u00e9\u4e2d\u0301") * d.randrange(1, 40),
        ]

    def neighbours(self):
        start = self.draw.choice(self.starts)
        return "".join(chr(start + self.draw.randrange(64)) for _ in range(self.draw.randrange(1, 7)))

    def anything(self):
        c = self.draw.randrange(LAST + 1)
        return "" if 0xD800 <= c <= 0xDFFF else chr(c)

    def marked(self):
        base = self.draw.choice(("", "a", "e", "o", "\u00e9", "\u03b1", "\u0627", "\u1e9b", "\u0344", "\u0f71\u0f72"))
        return base + "".join(self.draw.choices(MARKS, k=self.draw.randrange(1, 6)))

    def decomposed(self):
        return unicodedata.normalize(self.draw.choice(("NFD", "NFKD")), self.neighbours())

    def added_token(self):
        token = self.draw.choice(self.added)
        if self.draw.random() < 0.15:
            token = token[: self.draw.randrange(1, len(token) + 1)]
        return token * self.draw.choice((1, 1, 1, 2))

    def next(self):
        return "".join(self.draw.choice(self.kinds)() for _ in range(self.draw.randrange(1, 12)))


def lines(binary, model, items, *options):
    """One answer of the command a line."""
    data = "".join(json.dumps(item) + "\n" for item in items).encode()
    printed = checks.run(binary, "tokenize", model, "--jsonl", *options, stdin=data)
    return [json.loads(line) for line in printed.splitlines()]


def compare(c, name, inputs, expected, got):
    """One check for the lot: the first difference is shown, all are counted."""
    wrong = [i for i in range(len(inputs)) if i >= len(got) or expected[i] != got[i]]
    detail = ""
    if wrong:
        i = wrong[0]
        shown = checks.shorten(got[i]) if i < len(got) else "nothing"
        detail = (f"{len(wrong)} of {len(inputs)} differ; the first is number {i}, {checks.shorten(inputs[i])}: "
                  f"expected {checks.shorten(expected[i])}, got {shown}")
    c.check(name, len(got) == len(inputs) and not wrong, detail)


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
    compare(c, f"{name}, a fifth with --plain", few,
            [e.ids for e in oracle.without_added.encode_batch(few, add_special_tokens=False)],
            lines(binary, oracle.model, few, "--plain"))
    # Ids in no sensible order: characters cut anywhere.
    known = sorted(t.get_vocab().values())
    shuffled = [text.draw.choices(known, k=text.draw.randrange(12)) for _ in few]
    compare(c, f"{name}, a fifth of shuffled ids to text", shuffled,
            t.decode_batch(shuffled, skip_special_tokens=False), lines(binary, oracle.model, shuffled, "--decode"))


def check_every_character(c, binary, oracle):
    """Each code point between letters, blanks, digits, marks and itself."""
    characters = [chr(x) for x in range(LAST + 1) if not 0xD800 <= x <= 0xDFFF]
    texts = [f"a{x}b {x} {x}{x}1{x}\u0316\u0301 '{x}\n{x}" for x in characters]
    for first in range(0, len(texts), 100000):
        part = texts[first : first + 100000]
        compare(c, f"{oracle.name}: characters from number {first} on", part,
                [e.ids for e in oracle.tokenizer.encode_batch(part, add_special_tokens=False)],
                lines(binary, oracle.model, part))


def main():
    def extend(parser):
        parser.add_argument("--count", type=int, help="strings for each tokenizer")
        parser.add_argument("--seed", type=int, default=1)
    arguments = checks.parse_arguments(__doc__, extend)
    count = arguments.count or (100000 if arguments.full else 5000)
    c = checks.Checks()
    with tempfile.TemporaryDirectory() as folder:
        found = [oracles.qwen3(folder, arguments.tests), *oracles.trained_all(folder, arguments.seed)]
        if arguments.model and os.path.exists(arguments.model):
            found.append(oracles.smollm2(arguments.model))
        else:
            c.check("the default model is there", False, arguments.model)
        for oracle in found:
            try:
                check_oracle(c, arguments.binary, oracle, count, arguments.seed)
                if arguments.full:
                    check_every_character(c, arguments.binary, oracle)
            except checks.CommandFailed as failure:
                c.check(oracle.name, False, str(failure))
    c.close()


main()
