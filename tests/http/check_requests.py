"""Malformed request bodies: each is refused with a 4xx that names the field at fault, and the next request is right."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import checks
import serving
import tiny_model

CHAT, COMPLETION = "/v1/chat/completions", "/v1/completions"
USER = [{"role": "user", "content": "a"}]
DEEP = 100000


def nested(depth):
    return "[" * depth + "]" * depth


def broken_bodies():
    """Bodies that are no JSON document of an object: (name, bytes)."""
    yield "empty", b""
    yield "blank", b"  \n"
    yield "no JSON", b"hello"
    yield "form", b"messages=a&model=b"
    for text in ("[]", "5", '"a"', "null", "true", "[{}]"):
        yield f"not an object: {text}", text.encode()
    chat = json.dumps({"messages": USER})
    for name, text in (("cut", chat[:-1]), ("comma", chat[:-1] + ",}"), ("twice", chat + chat), ("rest", chat + "x"),
                       ("comment", "/* */" + chat), ("single quotes", chat.replace('"', "'")), ("BOM", "\ufeff" + chat),
                       ("bare key", '{messages: []}'), ("duplicate key", '{"messages": [], "messages": []}'),
                       ("duplicate key inside", '{"messages": [{"role": "user", "role": "user", "content": "a"}]}')):
        yield name, text.encode()
    for number in ("NaN", "Infinity", "-Infinity", "01", "1.", ".5", "+1", "0x10", "1e999", "-1e999", "1e", "--1"):
        yield f"number {number}", b'{"messages": [], "temperature": ' + number.encode() + b"}"
    for text in (r"\ud800", r"\udc00", r"\ud800a", r"\ud800\ud800", r"\u12", r"\x41", r"\'", "\n", "\x00", "\x1f"):
        yield f"string {text!r}", b'{"messages": [{"role": "user", "content": "' + text.encode() + b'"}]}'
    for raw in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf", b"\xe2\x82"):
        yield f"bytes {raw!r}", b'{"messages": [{"role": "user", "content": "' + raw + b'"}]}'
    deep = nested(DEEP)
    for name, text in (("unknown key", '{"messages": [], "x": %s}'), ("tools", '{"messages": [], "tools": [%s]}'),
                       ("content", '{"messages": [{"role": "user", "content": %s}]}'),
                       ("schema", '{"messages": [], "tools": [{"type": "function", "function": {"parameters": %s}}]}'),
                       ("arguments",
                        '{"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": %s}}]}]}'),
                       ("response format", '{"messages": [], "response_format": {"json_schema": %s}}'), ("nothing else",
                                                                                                         "%s")):
        yield f"deep {name}", (text % deep).encode()
    yield "deep and open", b"[" * DEEP
    yield "deep objects", b'{"a":' * DEEP + b"1" + b"}" * DEEP


# What is wrong, and the param that is named.
WRONG_PROMPTS = [
    ({}, "prompt"), (5, "prompt"), ([], "prompt"), ([[]], "prompt"), ("", "prompt"), ([""], "prompt"),
    (["a", "b"], "prompt"), ([[1], [2]], "prompt"), ([None], "prompt[0]"), ([True], "prompt[0]"), ([{}], "prompt[0]"),
    ([1, "a"], "prompt[1]"), ([1, [2]], "prompt[1]"), ([-1], "prompt[0]"), ([1, 512], "prompt[1]"),
    ([2**31], "prompt[0]"), ([2**63], "prompt[0]"), ([1e300], "prompt[0]"), ([0.5], "prompt[0]"),
    ([[1, None]], "prompt[1]"), ([1] * 5000, "prompt"),
]
WRONG_MESSAGES = [
    (5, "messages[0]"),
    ({}, "messages[0].role"),
    ({"role": 5, "content": "a"}, "messages[0].role"),
    ({"role": "wizard", "content": "a"}, "messages[0].role"),
    ({"role": "user"}, "messages[0].content"),
    ({"role": "user", "content": 5}, "messages[0].content"),
    ({"role": "user", "content": [5]}, "messages[0].content[0].type"),
    ({"role": "user", "content": [{"type": "text", "text": 5}]}, "messages[0].content[0].text"),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/"}}]},
     "messages[0].content[0].type"),
    ({"role": "user", "content": "word " * 5000}, "messages"),
]
WRONG_TOOLS = [
    (5, "tools[0]"),
    ({}, "tools[0].name"),
    ({"type": "function"}, "tools[0].name"),
    ({"type": "function", "function": 5}, "tools[0].function"),
    ({"type": "function", "function": {"name": ""}}, "tools[0].function.name"),
    ({"type": "custom", "custom": {"name": "x"}}, "tools[0].type"),
]


def wrong_types(kinds, names):
    """Every value of another kind for every name: (field, value)."""
    values = {"number": 5, "text": "x", "bool": True, "list": [], "object": {}}
    for name in names:
        for kind, value in values.items():
            if kind not in kinds:
                yield name, value


def wrong_fields():
    """Single fields that are wrong: (route, fields, the param that is named)."""
    both = []
    both += wrong_types(("number",), ("temperature", "top_p", "min_p", "top_k", "seed", "max_tokens"))
    both += wrong_types(("bool",), ("stream", "ignore_eos", "draft"))
    both += wrong_types(("text",), ("model", "user"))
    both += [("temperature", x) for x in (-0.1, 1e7, "hot", "", "1 ", " 1", "0x1", "nan", "inf", "1e999")]
    both += [("top_p", x) for x in (-1, 1.0001, 7)] + [("min_p", x) for x in (-0.5, 1.5)]
    both += [("top_k", x) for x in (1.5, "1.5", 1e300)]
    both += [("seed", x) for x in (0.5, 1e30, 2**64, -2**63 - 1, "x")]
    both += [("max_tokens", x) for x in (-1, 1.5, "-5", 1e30, 2**64)]
    both += [("stop", x) for x in ("", 5, True, {}, "x" * 65537)]
    both += [("n", x) for x in (0, 2, "3", True)] + [("logit_bias", {"1": 5}), ("logprobs", 3), ("logprobs", True)]
    both += [("frequency_penalty", 0.5), ("presence_penalty", -1), ("repetition_penalty", 1.1),
             ("priority", "background")]
    both += [("guided_json", {}), ("structured_outputs", {}), ("no_such_field", 1), ("temprature", 1), ("\u2603", 1)]
    for name, value in both:
        for route in (CHAT, COMPLETION):
            yield route, {name: value}, name
    for route in (CHAT, COMPLETION):
        yield route, {"": 1}, '""'
        yield route, {"stop": ["a", ""]}, "stop[1]"
        yield route, {"stop": ["a", 5]}, "stop[1]"
        yield route, {"stop": ["a"] * 17}, "stop"
        yield route, {"stream_options": {"include_usage": True}}, "stream_options"
        yield route, {"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"
        yield route, {"stream": True, "stream_options": {"other": True}}, "stream_options.other"
        yield route, {"stream": True, "stream_options": []}, "stream_options"
    yield from wrong_chats()
    for value, param in WRONG_PROMPTS:
        yield COMPLETION, {"prompt": value}, param
    for name, value in (("echo", 1), ("suffix", "s"), ("best_of", 2), ("add_special_tokens", "x"), ("messages", USER)):
        yield COMPLETION, {name: value}, name


def wrong_chats():
    fields = [("tool_choice", x) for x in ("required", "sometimes", 5, {}, [], {"type": "function"})]
    fields += [("tools", x) for x in (5, "f", {})]
    fields += [("modalities", x) for x in ("text", ["text", "audio"], [5])]
    fields += [("response_format", x) for x in (5, {"type": "json_object"}, {"type": "json_schema"})]
    fields += [("reasoning_effort", x) for x in (5, "", "lots", "HIGH")]
    fields += [("enable_thinking", x) for x in (1, "false")]
    fields += [("thinking", x) for x in (1, "on", {}, {"type": "maybe"})]
    fields += [("chat_template_kwargs", x) for x in (5, [])]
    fields += [("parallel_tool_calls", 1), ("functions", [{}]), ("function_call", "auto"), ("store", True)]
    fields += [("audio", {}), ("web_search_options", {}), ("moderation", {}), ("top_logprobs", 3)]
    fields += [("verbosity", "high"), ("thinking_budget", 9)]
    fields += [("metadata", "x"), ("service_tier", 5), ("max_completion_tokens", -1), ("max_completion_tokens", "x")]
    fields += [("messages", x) for x in (5, "a", {}, [])]
    for name, value in fields:
        yield CHAT, {name: value}, name
    yield CHAT, {"response_format": {}}, "response_format.type"
    yield CHAT, {"chat_template_kwargs": {"enable_thinking": "no"}}, "chat_template_kwargs.enable_thinking"
    yield CHAT, {"chat_template_kwargs": {"messages": []}}, "chat_template_kwargs.messages"
    for message, param in WRONG_MESSAGES:
        yield CHAT, {"messages": [message]}, param
    for tool, param in WRONG_TOOLS:
        yield CHAT, {"tools": [tool]}, param


def refused(c, name, server, route, body, param=None):
    status, answer = server.post(route, body)
    error = answer.get("error", {})
    c.equal(name, (400, "invalid_request_error", param), (status, error.get("type"), error.get("param")))
    c.check(f"{name}: the envelope", error.get("message") and set(error) == {"message", "type", "param", "code"}, error)


def check_next(c, name, server, expected):
    status, answer = server.post(COMPLETION, {"prompt": [1, 2, 3], "max_tokens": 5})
    c.equal(name, (200, expected), (status, answer.get("tensorfold", {}).get("token_sha")))


def check_neutral(c, server):
    """Values that ask for nothing are accepted."""
    neutral = {
        "n": 1, "logit_bias": {}, "frequency_penalty": 0, "presence_penalty": 0.0, "stop": [], "user": "me",
        "stream": False, "stream_options": None, "seed": None, "temperature": "0.5", "top_k": 3.0, "draft": False,
        "max_tokens": 1, "top_p": 0, "repetition_penalty": 1, "priority": "normal", "model": None, "cache_salt": "s"}
    chat = {
        "tools": [], "tool_choice": "auto", "parallel_tool_calls": True, "response_format": {"type": "text"},
        "modalities": ["text"], "logprobs": False, "top_logprobs": 0, "functions": [], "function_call": "none",
        "metadata": {"a": "b"}, "service_tier": "auto", "store": False, "verbosity": "medium", "audio": None,
        "prompt_cache_key": "k", "safety_identifier": "s", "prediction": {"type": "content", "content": "a"},
        "thinking_budget": 0, "chat_template_kwargs": {}, "reasoning_effort": "low", "max_completion_tokens": 1}
    completion = {"logprobs": None, "best_of": 1, "suffix": "", "echo": False, "add_special_tokens": True}
    for route, base, more in ((CHAT, {"messages": USER}, chat), (COMPLETION, {"prompt": "a"}, completion)):
        for name, value in {**neutral, **more}.items():
            status, answer = server.post(route, {"max_tokens": 1, **base, name: value})
            c.equal(f"neutral {route} {name}", 200, status if status == 200 else answer)


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    with tempfile.TemporaryDirectory() as folder:
        tiny_model.make_thinking(folder, arguments.tests)
        with serving.Serving(arguments.binary, folder, "--context", 400) as server:
            expected = server.post(COMPLETION, {"prompt": [1, 2, 3], "max_tokens": 5})[1]["tensorfold"]["token_sha"]
            for name, body in broken_bodies():
                for route in (CHAT, COMPLETION):
                    refused(c, f"body {name} to {route}", server, route, body)
            check_next(c, "after broken bodies", server, expected)
            for i, (route, fields, param) in enumerate(wrong_fields()):
                base = {"messages": USER} if route == CHAT else {"prompt": "a"}
                refused(c, f"{route} {checks.shorten(fields, 120)}", server, route, {**base, "max_tokens": 3, **fields},
                        param)
                if i % 20 == 0:
                    check_next(c, f"after {checks.shorten(fields, 120)}", server, expected)
            for route, param in ((CHAT, "messages"), (COMPLETION, "prompt")):
                refused(c, f"{route} without {param}", server, route, {}, param)
                refused(c, f"{route} with {param} null", server, route, {param: None}, param)
            check_neutral(c, server)
            check_next(c, "at the end", server, expected)
            status, errors = server.stop()
            c.equal("the server's end", (0, 1), (status, errors.count("\n")))
    c.close()


if __name__ == "__main__":
    main()
