#!/usr/bin/env python3
"""Writes src/text/jinja_unicode_ranges.c (`ranges`) or _case.c (`case`): characters as Python 3.11's str knows them."""
import sys
import unicodedata

POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def ranges(test):
    out = []
    for c in range(0x110000):
        if not (0xD800 <= c <= 0xDFFF) and test(chr(c)):
            if out and out[-1][1] == c - 1:
                out[-1][1] = c
            else:
                out.append([c, c])
    return out


def mapping(change):
    """Runs of code points with one distance, one after another or every second; and those that become several."""
    runs, long = [], []
    for c in POINTS:
        to = change(chr(c))
        if to == chr(c):
            continue
        if len(to) > 1:
            long.append([c] + [ord(x) for x in to] + [0] * (3 - len(to)))
            continue
        delta = ord(to) - c
        last = runs[-1] if runs else None
        if last and last[3] == delta and (c - last[1] == last[2] or (last[0] == last[1] and c - last[1] <= 2)):
            last[2] = c - last[1]
            last[1] = c
        else:
            runs.append([c, c, 1, delta])
    return runs, long


def case_ignorable(ch):
    # Seen from outside: such a character between a letter and a sigma leaves the sigma not final.
    return ("a" + ch + "\u03a3").lower()[-1] == "\u03c2" and ("1" + ch + "\u03a3").lower()[-1] == "\u03c3"


def table(kind, name, rows, per_line):
    print(f"\nconst struct {kind} {name}[] = {{")
    for i in range(0, len(rows), per_line):
        print("    " + " ".join("{" + ", ".join(map(str, r)) + "}," for r in rows[i:i + per_line]))
    print("};")
    print(f"const size_t {name}_n = sizeof {name} / sizeof {name}[0];")


RANGES = [
    ("jinja_unprintable", lambda c: not c.isprintable()),
    ("jinja_alpha", str.isalpha),
    ("jinja_decimal", str.isdecimal),
    ("jinja_digit", lambda c: c.isdigit() and not c.isdecimal()),
    ("jinja_numeric", lambda c: c.isnumeric() and not c.isdigit()),
    ("jinja_lowercase", str.islower),
    ("jinja_uppercase", str.isupper),
    ("jinja_titlecase", lambda c: unicodedata.category(c) == "Lt"),
    ("jinja_case_ignorable", lambda c: case_ignorable(c) and c != "\u03a3"),
]
CASES = [("jinja_to_upper", str.upper), ("jinja_to_lower", str.lower), ("jinja_to_title", str.title)]


def main():
    assert sys.version_info[:2] == (3, 11), "the tables are those of Python 3.11 (Unicode 14)"
    if sys.argv[1:] == ["ranges"]:
        print("// Characters that Python's str calls letters, digits and so on; by tools/gen_jinja_unicode.py.")
        print('#include "text/jinja_unicode.h"')
        for name, test in RANGES:
            table("jinja_range", name, ranges(test), 6)
    elif sys.argv[1:] == ["case"]:
        print("// What Python's str makes of each character when case changes; by tools/gen_jinja_unicode.py.")
        print('#include "text/jinja_unicode.h"')
        for name, change in CASES:
            runs, long = mapping(change)
            table("jinja_case_run", name, runs, 4)
            table("jinja_case_long", name + "_long", long, 4)
    else:
        sys.exit("usage: gen_jinja_unicode.py ranges|case")


if __name__ == "__main__":
    main()
