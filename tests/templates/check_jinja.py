#!/usr/bin/env python3
"""The template engine against jinja2: expressions, statements, random templates, and chat templates as published.

Texts must be equal byte for byte. Where jinja2 raises, the engine must fail too, with the same text where the
template itself raised. --templates FOLDER adds a folder of *.jinja files; --full adds the 70 of llama.cpp, which it
fetches.
"""
import datetime
import glob
import json
import os
import random
import re
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import llama_cpp_source  # noqa: E402
from checks import Checks, parse_arguments, shorten  # noqa: E402
from conversations import contexts  # noqa: E402
from oracle import Engine, Jinja2, seconds_since_1970  # noqa: E402

CONTEXT = {
    "a": 1, "b": 2.5, "s": "Hello World", "u": "Grüße ñ ß ŉ İ ΑΣ Σ", "e": "", "n": None, "t": True, "f": False,
    "l": [3, 1, 2], "ls": ["b", "A", "c"], "d": {"x": 1, "y": [1, 2], "items": 5, "Z": "q"},
    "o": [{"n": "a", "v": 3}, {"n": "B", "v": 1}, {"n": "c", "v": 2, "w": None}],
    "nest": {"a": {"b": [{"c": 7}]}}, "big": 9007199254740993, "neg": -7, "fl": 1e21, "ws": " \t x y \n ",
    "html": "<a href='x'>&\"</a>", "uni": "\u200b\u00a0é\U0001f642\x7f\x00", "nl": "a\nb\r\nc\x0bd\u2028e",
    "tree": [{"n": "a", "c": [{"n": "b", "c": []}, {"n": "c", "c": [{"n": "d", "c": []}]}]}, {"n": "e", "c": []}],
    "x": "ctx", "pairs": [[1, "a"], [2, "b"]],
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
}
# Random templates are not compared where they meet what differs: numbers over 64 bits, bounds, and slices of literals,
# which jinja2 folds before it runs and so never fails on, and what is undefined as a key.
NOT_COMPARED = re.compile(r"64 bits|complex numbers|nested too deeply|too large|too many steps|not subscriptable|"
                          r"type: 'slice'|LoopContext|unhashable type: 'Undefined'")
JOINED_LOOP = re.compile(r"\bloop\)? ~|~ \(?loop\b(?![.(])")  # what a loop is printed as is jinja2's own affair


def compare(checks, name, jinja2, engine, template, context):
    text, error = jinja2.render(template, context)
    got = engine.render(template, context)
    if error is None:
        return checks.equal(name, text, got.get("text", got))
    if "error" not in got:
        return checks.check(name, False, f"expected {error!r}, got {shorten(got['text'])}")
    if type(error).__name__ != "TemplateError":
        return checks.check(name, True)
    return checks.equal(name, str(error), got["error"])


def check_marks(checks, name, engine, template, context):
    """Strings of the context are marked: the text stays the same, and no character of theirs is left unmarked."""
    marker = "\u2603"
    messages = [dict(m, content=marker + m["content"]) if isinstance(m.get("content"), str) else m
                for m in context["messages"]]
    context = dict(context, messages=messages)
    plain, marked = engine.render(template, context), engine.render(template, context, marked=True)
    if "error" in plain or "error" in marked:
        checks.equal(name, plain.get("error"), marked.get("error"))
        return
    data = marked["text"].encode()
    loose = b"".join(data[begin:end] for begin, end, is_data in marked["pieces"] if not is_data)
    covered = [p[0] for p in marked["pieces"]] + [len(data)] == [0] + [p[1] for p in marked["pieces"]]
    checks.check(name, plain["text"] == marked["text"] and covered and marker.encode() not in loose,
                 shorten(marked["pieces"]))


# Names that random templates set are not names of the context: jinja2 calls such a name undefined in a scope that reads
# it before the outer one sets it, the engine then still finds the context's value.
SET_NAMES = ["p", "q", "r"]
LOOP = ["index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0", "previtem",
        "nextitem", "changed(1)", "changed(loop.index // 2)", "cycle('a', 'b')", "cycle(1, 2, 3)", "zz"]
ATOMS = SET_NAMES + ["a", "b", "s", "u", "e", "n", "t", "l", "ls", "d", "o", "zz", "x", "1", "0", "-2", "2.5", "'q'",
                     "''", "[1,2]", "{'k':1}", "none", "true", "(1,'a')", "range(3)", "messages", "messages[0]", "d.x",
                     "o[1].n", "l[0]", "loop"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">=", "in", "not in", "and", "or"]
POSTFIX = ["|length", "|string", "|upper", "|lower", "|trim", "|list", "|first", "|last", "|join('-')", "|tojson",
           "|int", "|float", "|default('D')", "|default('D', true)", "|sort", "|unique|list", "|reverse|list",
           "|capitalize", "|title", "|abs", "|round", "|sum", "|min", "|max", "|map('string')|list", "|select|list",
           "|dictsort", "|items|list", "|replace('l','L')", "|indent", "|e", "|batch(2)|list", "|wordcount",
           "|tojson(indent=2)", "|selectattr('v')|list", "|map(attribute='n')|list",
           "|rejectattr('w','defined')|list", "|groupby('n')", "|groupby('v',default=0)|map('first')|list",
           "|attr('x')",
           "|slice(2)|list", "|batch(2, 'f')|list", "|map('upper')|list", "|sort(attribute='v')|list", "|truncate(3)",
           "|center(9)", "|tojson(sort_keys=true)", "|items|map('last')|list", "|sum(attribute='v')", "|string|list",
           ".zfill(4)", ".isascii()", ".rsplit('o', 1)", ".partition('l')", ".get('x', 1).y", " is callable",
           " is sameas none", " is in [1, 'a']", " is divisibleby 2", " is eq 1", " is true", ".x",
           "['x']", "[0]", "[-1]", "[1:]", "[::-1]", "[:2]",
           ".items()|list", ".get('x')", ".upper()", ".split()", ".strip()", ".startswith('H')", ".join(['a','b'])",
           " is defined", " is none", " is string", " is mapping", " is iterable", " is sequence", " is number",
           " is odd", " is lower", " is boolean", ".keys()|list", ".title()", ".find('o')"]


def random_expression(draw, depth):
    roll = draw.random()
    if depth == 0 or roll < 0.25:
        return draw.choice(ATOMS)
    if roll < 0.6:
        return f"({random_expression(draw, depth - 1)}){draw.choice(POSTFIX)}"
    if roll < 0.9:
        return (f"{random_expression(draw, depth - 1)} {draw.choice(BINARY)} "
                f"({random_expression(draw, depth - 1)})")
    return " if ".join(random_expression(draw, depth - 1) for _ in range(2)) + f" else {draw.choice(ATOMS)}"


def random_body(draw, depth):
    """Text and tags with white space and signs at random places."""
    parts = []
    for _ in range(draw.randint(1, 4)):
        open_, close = draw.choice(["{%", "{%-", "{%+", "{%"]), draw.choice(["%}", "-%}", "+%}", "%}"])
        inner = random_body(draw, depth - 1) if depth else "y"
        value = random_expression(draw, 1)
        name = draw.choice(SET_NAMES)
        parts.append(draw.choice([
            draw.choice(["\n", " ", "  \n", "\n  ", "x", "x\n", "\t", "{# c #}", "{#- c -#}\n", "  {# c #}\n"]),
            "{{ " + value + " }}", "{{- " + value + " -}}",
            f"{open_} if {value} {close}{inner}{open_} else {close}n{open_} endif {close}",
            f"{open_} if {value} {close}{inner}{open_} endif {close}",
            f"{open_} for {name} in {value} {close}{inner}{{{{ loop.index }}}}{open_} endfor {close}",
            f"{open_} for {name} in l if {value} {close}{inner}{open_} else {close}n{open_} endfor {close}",
            f"{open_} set {name} = {value} {close}",
            f"{open_} set {name} {close}{inner}{open_} endset {close}{{{{ {name} }}}}",
            f"{open_} for {name} in {value} {close}{{{{ loop.{draw.choice(LOOP)} }}}}{open_} if loop.index == 2 {close}"
            f"{open_} {draw.choice(['break', 'continue'])} {close}{open_} endif {close}{inner}{open_} endfor {close}",
            f"{open_} for {name} in tree recursive {close}{{{{ {name}.n }}}}{{{{ loop.{draw.choice(LOOP)} }}}}"
            f"{{{{ loop({name}.c) }}}}{open_} endfor {close}",
            f"{open_} macro m(a1, b1={value}, c1=a1) {close}{{{{ a1 }}}}{{{{ b1 }}}}{{{{ c1 }}}}{{{{ varargs }}}}"
            f"{{{{ kwargs }}}}{inner}{open_} endmacro {close}"
            + draw.choice(["{{ m() }}", "{{ m(1) }}", "{{ m(1, 2, 3, 4) }}", "{{ m(b1=1, z=2) }}", "{{ m(*l, **d) }}",
                           "{{ m(1, a1=2) }}", "{{ m.name }}{{ m.arguments }}{{ m.catch_varargs }}{{ m.caller }}"]),
            f"{open_} macro m(a1=0) {close}[{{{{ caller({draw.choice(['', '1', '1, 2', 'v1=1', 'a1', 'z=1'])}) }}}}]"
            f"{inner}{open_} endmacro {close}{open_} call(u1=5, v1={value}) m({draw.choice(['', '7', 'a1=8'])}) {close}"
            f"{{{{ u1 }}}}{{{{ v1 }}}}{inner}{open_} endcall {close}",
            f"{open_} set ns = namespace(k={value}) {close}{open_} for {name} in l {close}{open_} set ns.k = {name} "
            f"{close}{inner}{open_} endfor {close}{{{{ ns.k }}}}{{{{ ns.zz }}}}",
            f"{open_} set {name}, z1 = {value}, {random_expression(draw, 1)} {close}{{{{ z1 }}}}",
            f"{open_} set c1 = cycler('a', 'b') {close}{{{{ c1.next() }}}}{{{{ c1.current }}}}{inner}"
            "{{ c1.next() }}",
            f"{open_} set j1 = joiner({draw.choice(['', value])}) {close}{{{{ j1() }}}}{{{{ j1() }}}}",
            f"{open_} generation {close}{inner}{open_} endgeneration {close}",
            f"{open_} macro m({name}={value}) {close}{inner}{open_} endmacro {close}{{{{ m() }}}}",
            f"{open_} filter upper {close}{inner}{open_} endfilter {close}",
            f"{open_} raw {close.replace('+', '')}{inner}{open_} endraw {close}",
            f"{open_} with {name} = {value} {close}{inner}{open_} endwith {close}"]))
    return "".join(parts)


def check_random(checks, jinja2, engine, n):
    draw = random.Random(5)
    for i in range(n):
        template = "{{ " + random_expression(draw, 3) + " }}" if i % 2 else random_body(draw, 2)
        if JOINED_LOOP.search(template):
            continue
        text, error = jinja2.render(template, CONTEXT)
        jinja2.compiled.clear()
        got = engine.render(template, CONTEXT)
        if NOT_COMPARED.search(got.get("error", "")) or re.search(r"<(generator|built-in|function|bound|Loop|Macro)",
                                                                  str(text)):
            continue
        if error is not None:
            checks.check(f"random {template!r}", "error" in got, f"expected {error!r}, got {got}")
        else:
            checks.equal(f"random {template!r}", text, got.get("text", got))


def check_times(checks, engine, n):
    """strftime_now against Python's, over times of ten thousand years."""
    draw = random.Random(6)
    formats = "|".join("%" + c for c in "aAbBcCdDeFfgGhHIjklmMnpPrRSstTuUVwWxXyYzZ%QE")
    formats += "|%-d %-m %_d %0e %^a %^B %-H %-I %-j %-e %_H %-y ä %"
    for _ in range(n):
        now = datetime.datetime(1000, 1, 1) + datetime.timedelta(seconds=draw.randrange(86400 * 3287182))
        got = engine.ask({"template": "{{ strftime_now(f) }}", "context": {"f": formats},
                          "now": seconds_since_1970(now)})
        checks.equal(f"strftime of {now}", now.strftime(formats), got.get("text", got))


def published_templates(arguments):
    """(name, template) of the templates that the tests have at hand."""
    folder = os.path.join(arguments.tests, "templates")
    for path in sorted(glob.glob(os.path.join(folder, "*.jinja"))):
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(path), file.read()
    with open(os.path.join(arguments.tests, "tokenizers", "qwen3", "tokenizer_config.json"), encoding="utf-8") as file:
        yield "qwen3", json.load(file)["chat_template"]
    if arguments.model and os.path.exists(arguments.model):
        from gguf import GGUFReader
        field = GGUFReader(arguments.model).get_field("tokenizer.chat_template")
        yield "smollm2", field.contents()


def check_folder(checks, jinja2, engine, folder):
    """Counts whole templates: each is equal in all contexts or is named with its first difference."""
    for path in sorted(glob.glob(os.path.join(folder, "*.jinja"))):
        with open(path, encoding="utf-8") as file:
            template = file.read()
        one = Checks()
        for name, context in contexts():
            compare(one, f"{os.path.basename(path)} {name}", jinja2, engine, template, context)
            if one.failed:
                break
        checks.check(os.path.basename(path), one.failed == 0)


def extend(parser):
    parser.add_argument("--render", help="the program built from render.c; where make puts it, if not given")
    parser.add_argument("--templates", help="a folder of more *.jinja files")


def main():
    arguments = parse_arguments(__doc__.splitlines()[0], extend)
    folder = os.path.join(arguments.tests, "templates")
    beside = os.path.join(os.path.dirname(arguments.binary), "tests", "templates", "render")
    checks, jinja2, engine = Checks(), Jinja2(), Engine(arguments.render or beside)
    warnings.simplefilter("ignore")  # Python's, about the templates that jinja2 compiles
    with open(os.path.join(folder, "expressions.json"), encoding="utf-8") as file:
        for expression in json.load(file):
            compare(checks, expression, jinja2, engine, "{{ " + expression + " }}", CONTEXT)
    with open(os.path.join(folder, "templates.json"), encoding="utf-8") as file:
        for template in json.load(file):
            compare(checks, repr(template), jinja2, engine, template, CONTEXT)
    for name, template in published_templates(arguments):
        for case, context in contexts():
            compare(checks, f"{name} {case}", jinja2, engine, template, context)
            check_marks(checks, f"marks of {name} {case}", engine, template, context)
    check_random(checks, jinja2, engine, 20000 if arguments.full else 1000)
    check_times(checks, engine, 20000 if arguments.full else 500)
    if more := llama_cpp_source.templates(arguments):
        check_folder(checks, jinja2, engine, more)
    checks.check("the render program ends well", engine.close() == 0)
    checks.close()


if __name__ == "__main__":
    main()
