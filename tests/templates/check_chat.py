#!/usr/bin/env python3
"""Chat requests through templates: a conversation is rendered whole or refused by name, a plain one as jinja2 does it.

Every text of a conversation is a word of its own. Where the rendering of the request lacks one, jinja2 must lack it too
in each form that the conversation can be written in: then the template drops it, which --verbose lists. --templates
FOLDER adds a folder of *.jinja files; --full adds the 70 of llama.cpp, which it fetches.
"""
import copy
import datetime
import glob
import itertools
import json
import os
import re
import sys
import time
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import llama_cpp_source  # noqa: E402
from checks import Checks, parse_arguments, shorten  # noqa: E402
from conversations import assistant, system, user  # noqa: E402
from oracle import Jinja2, Program  # noqa: E402

TOOL = {"type": "function", "function": {"name": "word_tool", "description": "word_about", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "description": "word_city"}}, "required": ["city"]}}}


def call(arguments, number=1):
    return {"id": f"call{number:05d}", "type": "function", "function": {"name": "word_tool", "arguments": arguments}}


def result(content, number=1):
    return {"role": "tool", "name": "word_tool", "tool_call_id": f"call{number:05d}", "content": content}


def parts(*texts):
    return [{"type": "text", "text": text} for text in texts]


# name: (messages, tools). Those in PLAIN are in the form that every template takes as it is.
CONVERSATIONS = {
    "user": ([user("word1")], None),
    "system": ([system("word1"), user("word2")], None),
    "turns": ([system("word1"), user("word2"), assistant("word3"), user("word4"), assistant("word5"), user("word6")],
              None),
    "unicode": ([user("wörd1 你好 🙂 \u200b 'q' \"d\" \\"), assistant("wörd2 ñ"), user("wörd3…")], None),
    "long": ([user("word1 " + "blah " * 4000), assistant("word2"), user("word3")], None),
    "tools": ([system("word1"), user("word2")], [TOOL]),
    "tools without system": ([user("word1")], [TOOL]),
    "call, object": ([user("word1"), assistant("", tool_calls=[call({"city": "word2"})]), result("word3")], [TOOL]),
    "call, text": ([user("word1"), assistant("", tool_calls=[call('{"city": "word2"}')]), result("word3")], [TOOL]),
    "call, null": ([user("word1"), assistant(None, tool_calls=[call('{"city": "word2"}')]), result("word3"),
                    assistant("word4"), user("word5")], [TOOL]),
    "call, no content": ([user("word1"), {"role": "assistant", "tool_calls": [call('{"city": "word2"}')]},
                          result("word3")], [TOOL]),
    "call, with text": ([user("word1"), assistant("word2", tool_calls=[call({"city": "word3"})]), result("word4")],
                        [TOOL]),
    "call, without tools": ([user("word1"), assistant(None, tool_calls=[call('{"city": "word2"}')]), result("word3")],
                            None),
    "call, no arguments": ([user("word1"), assistant(None, tool_calls=[call("")]), result("word2")], [TOOL]),
    "parallel calls": ([user("word1"), assistant(None, tool_calls=[call('{"city": "word2"}'),
                                                                   call('{"city": "word3"}', 2)]),
                        result("word4"), result("word5", 2)], [TOOL]),
    "parts": ([system(parts("word1")), user(parts("word2 ", "word3")), assistant(parts("word4")), user("word5")], None),
    "parts of a result": ([user("word1"), assistant(None, tool_calls=[call('{"city": "word2"}')]),
                           result(parts("word3"))], [TOOL]),
    "reasoning": ([user("word1"), assistant("word2", reasoning_content="thought1"), user("word3")], None),
    "reasoning and call": ([user("word1"), assistant(None, reasoning="thought1",
                                                     tool_calls=[call('{"city": "word2"}')]), result("word3")], [TOOL]),
    "systems": ([system("word1"), {"role": "developer", "content": "word2"}, system("word3"), user("word4")], None),
    "late system": ([system("word1"), user("word2"), assistant("word3"), system("word4"), user("word5")], None),
    "late system, last": ([user("word1"), system("word2")], None),
    "late system, between": ([user("word1"), system("word2"), assistant("word3"), user("word4")], None),
    "developer": ([{"role": "developer", "content": "word1"}, user("word2")], None),
    "late developer": ([user("word1"), assistant("word2"), {"role": "developer", "content": "word3"}, user("word4")],
                       None),
    "empty content": ([user(""), assistant(""), user("word1")], None),
    "empty system": ([system(""), user("word1")], None),
    "names": ([dict(user("word1"), name="ann"), dict(assistant("word2"), refusal=None, tool_calls=None, audio=None),
               user("word3")], None),
    "nameless result": ([user("word1"), assistant(None, tool_calls=[call('{"city": "word2"}')]),
                         {"role": "tool", "tool_call_id": "call00001", "content": "word3"}], [TOOL]),
    "bare tool": ([user("word1")], [{"type": "function", "function": {"name": "word_tool"}}]),
    "flat tool": ([user("word1")], [{"type": "function", "name": "word_tool", "description": "word_about",
                                     "parameters": {"type": "object", "properties": {}}}]),
    "shouting": ([{"role": "SYSTEM", "content": "word1"}, {"role": "User", "content": "word2"}], None),
}
PLAIN = ["user", "system", "turns", "unicode", "long", "tools", "tools without system", "call, object", "empty system",
         "parallel calls, objects"]
CONVERSATIONS["parallel calls, objects"] = ([user("word1"), assistant("", tool_calls=[
    call({"city": "word2"}), call({"city": "word3"}, 2)]), result("word4"), result("word5", 2)], [TOOL])

# What has to come out; thoughts do not, most templates leave them out of some turns on purpose.
WORD = re.compile(r"w(?:o|ö)rd(?:_tool|_about|[0-9]+)")


def words(value):
    """The words in any JSON value, keys aside."""
    if isinstance(value, str):
        return set(WORD.findall(value))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return set().union(*map(words, inner)) if inner else set()


def variants(messages):
    """A conversation in the forms that templates want: text or null beside calls, arguments as objects or text."""
    def rewrite(message, null, text):
        message = copy.deepcopy(message)
        if isinstance(message.get("content"), list):
            message["content"] = "".join(part["text"] for part in message["content"])
        message["role"] = message["role"].lower()
        if message["role"] == "developer":
            message["role"] = "system"
        for one in message.get("tool_calls") or []:
            arguments = one["function"]["arguments"]
            loaded = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
            one["function"]["arguments"] = json.dumps(loaded) if text else loaded
        if message.get("tool_calls") and not message.get("content"):
            message["content"] = None if null else ""
        return {key: value for key, value in message.items() if value is not None or key == "content"}
    yield messages
    for null, text in itertools.product((False, True), repeat=2):
        yield [rewrite(message, null, text) for message in messages]


def context(messages, tools, prompt=True):
    return {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": prompt,
            "bos_token": "<s>", "eos_token": "</s>"}


def renderings(jinja2, template, messages, tools):
    """What jinja2 makes of each form that it does not refuse."""
    for form in variants(messages):
        text, error = jinja2.render(template, context(form, tools))
        if error is None:
            yield text


def check_conversation(checks, name, template, programs, dropped):
    """One conversation, by its name after the slash."""
    jinja2, program = programs
    messages, tools = CONVERSATIONS[name.split("/")[1]]
    got = program.ask({"template": template, "messages": messages, "tools": tools, "prompt": True,
                       "date": "2026-03-07"})
    texts = list(renderings(jinja2, template, messages, tools))
    wanted = words(messages) | words(tools or [])
    whole = [text for text in texts if wanted <= words(text)]
    if "error" in got:
        allowed = not whole or got["error"].startswith(("tools: the chat template has no form", "messages["))
        return checks.check(name, allowed and got["error"], f"jinja2 renders {shorten(whole)}; refused: {got['error']}")
    seen = set().union(*map(words, texts)) if texts else set()
    missing = wanted - words(got["text"])
    if missing and not missing & seen:
        dropped.append(f"{name}: {' '.join(sorted(missing))}")
    ok = not missing & seen
    if name.split("/")[1] in PLAIN and whole:
        ok = ok and got["text"] == whole[0]
    return checks.check(name, ok, f"missing {sorted(missing)}, expected {shorten(whole[:1])}, got "
                                  f"{shorten(got['text'])}")


def check_marks(checks, name, template, program):
    """Whatever came from the request is data to the last byte, but for the role, which is a word of ours."""
    messages = [system("\u2603a"), user("\u2603b"), assistant("\u2603c"), user("\u2603d")]
    got = program.ask({"template": template, "messages": messages, "prompt": True, "date": "2026-03-07"})
    if "error" in got:
        return
    text, loose, at = got["text"].encode(), b"", 0
    for begin, end in got["data"] + [[len(text), len(text)]]:
        loose += text[at:begin]
        at = end
    checks.check(f"marks of {name}", "\u2603".encode() not in loose, shorten(loose))


def published_templates(arguments):
    """(name, template) of those that the tests have at hand, and of a folder."""
    paths = glob.glob(os.path.join(arguments.tests, "templates", "*.jinja"))
    if folder := llama_cpp_source.templates(arguments):
        paths += glob.glob(os.path.join(folder, "*.jinja"))
    for path in sorted(paths):
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(path), file.read()
    for path in sorted(glob.glob(os.path.join(arguments.tests, "tokenizers", "*", "tokenizer_config.json"))):
        with open(path, encoding="utf-8") as file:
            stored = json.load(file).get("chat_template")
        if isinstance(stored, str):
            yield os.path.basename(os.path.dirname(path)), stored
    if arguments.model and os.path.exists(arguments.model):
        from gguf import GGUFReader
        yield "smollm2", GGUFReader(arguments.model).get_field("tokenizer.chat_template").contents()


UNNOTICED_MS = 0.1


def check_speed(checks, name, template, programs):
    """51 messages, from JSON to the prompt, in no more time than jinja2 takes for the rendering alone."""
    jinja2, program = programs
    messages = [system("Be brief.")] + [turn for i in range(25) for turn in
                                        (user(f"Question {i}: " + "why? " * 20), assistant("Because. " * 30))]
    request = {"template": template, "messages": messages, "prompt": True, "date": "2026-03-07", "repeat": 20}
    got = program.ask(request)
    _, error = jinja2.render(template, context(messages, None))
    if "error" in got or error:
        return None
    theirs = 1e9
    for _ in range(20):
        begin = time.perf_counter()
        jinja2.render(template, context(messages, None))
        theirs = min(theirs, (time.perf_counter() - begin) * 1e3)
    checks.check(f"speed of {name}", got["render_ms"] <= max(theirs, UNNOTICED_MS),
                 f"{got['render_ms']:.3f} ms, jinja2 {theirs:.3f} ms")
    checks.check(f"time to open {name}", got["open_ms"] < 10, f"{got['open_ms']:.1f} ms")
    return got["render_ms"], theirs, got["open_ms"]


def extend(parser):
    parser.add_argument("--prompt", help="the program built from prompt.c; where make puts it, if not given")
    parser.add_argument("--templates", help="a folder of more *.jinja files")
    parser.add_argument("--verbose", action="store_true", help="list what templates drop, and times")


def main():
    arguments = parse_arguments(__doc__.splitlines()[0], extend)
    beside = os.path.join(os.path.dirname(arguments.binary), "tests", "templates", "prompt")
    checks, program = Checks(), Program(arguments.prompt or beside)
    warnings.simplefilter("ignore")  # Python's, about the templates that jinja2 compiles
    dropped, times = [], []
    for name, template in published_templates(arguments):
        jinja2 = Jinja2(datetime.datetime(2026, 3, 7))
        for conversation in CONVERSATIONS:
            check_conversation(checks, f"{name}/{conversation}", template, (jinja2, program), dropped)
        check_marks(checks, name, template, program)
        taken = None if arguments.no_time_limits else check_speed(checks, name, template, (jinja2, program))
        times += [taken] if taken else []
    if arguments.verbose:
        print("\n".join("drops " + line for line in dropped))
        for what, column in (("render", 0), ("jinja2", 1), ("open", 2)):
            column = sorted(row[column] for row in times)
            print(f"{what}: median {column[len(column) // 2]:.3f} ms, worst {column[-1]:.3f} ms")
    checks.check("the program ends well", program.close() == 0)
    checks.close()


if __name__ == "__main__":
    main()
