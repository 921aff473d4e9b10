"""Random strings that tokenizers have to agree on, and their comparison."""
import json
import random
import unicodedata

import checks

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
