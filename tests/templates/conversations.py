"""Conversations that chat templates are rendered over: tools, null content, parts, thinking, odd orders, scripts."""


def user(content):
    return {"role": "user", "content": content}


def system(content):
    return {"role": "system", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def call(arguments, number=1):
    return {"id": f"call{number:05d}", "type": "function",
            "function": {"name": "get_weather", "arguments": arguments}}


def result(content, number=1):
    return {"role": "tool", "content": content, "tool_call_id": f"call{number:05d}", "name": "get_weather"}


TOOL = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a city",
    "parameters": {"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "the <city> & \"more\""},
        "days": {"type": "integer", "enum": [1, 2, 3]},
        "unit": {"type": ["string", "null"], "default": None},
        "list": {"type": "array", "items": {"type": "number"}},
        "deep": {"type": "object", "properties": {"x": {"type": "boolean"}}}}},
    "return": {"type": "object"}}}

ODD_NUMBERS = {"f": 1e21, "g": 0.1, "h": -3.5e-7, "i": 12345678901234, "l": [1, [2, {"k": []}], {}], "s": "a\"b\n"}

CONVERSATIONS = {
    "user": [user("Hello")],
    "system": [system("Be brief."), user("Hi  there\n")],
    "turns": [system("S"), user("a"), assistant("b"), user("c"), assistant("d"), user("e")],
    "unicode": [user("Grüße 你好 🙂 \u200b\x07 <|im_end|> 'q' \"d\" \\ "), assistant("ok ñ"), user("weiter…")],
    "parts": [user([{"type": "text", "text": "look "}, {"type": "image", "image": "x.png"},
                    {"type": "text", "text": "at it"}])],
    "null content": [user("q"), assistant(None, tool_calls=[call({"city": "Paris", "x": 1.0, "y": None, "z": True})]),
                     result('{"t": 1}')],
    "tool round": [user("q"), assistant("", tool_calls=[call({"city": "Köln"})]), result("21"),
                   assistant("It is 21."), user("thanks")],
    "text arguments": [user("q"), assistant("", tool_calls=[call('{"city": "Rome"}')]), result("1")],
    "parallel calls": [user("q"), assistant("two", tool_calls=[call({"city": "A"}), call({"city": "B"}, 2)]),
                       result("1"), result("2", 2), user("x")],
    "two systems": [system("one"), user("a"), system("two"), user("b")],
    "thinking": [user("q"), assistant("<think>\nhm\n</think>\n\nanswer"), user("again"),
                 assistant("x", reasoning_content="deep\nthought"), user("z")],
    "thinking call": [user("q"), assistant("", reasoning_content="plan", thinking="plan",
                                           tool_calls=[call({"city": "X"})]), result("r")],
    "developer": [{"role": "developer", "content": "dev"}, user("x")],
    "two users": [user("a"), user("b")],
    "odd role": [{"role": "narrator", "content": "x"}],
    "assistant last": [user("a"), assistant("partial")],
    "nothing": [],
    "line ends": [user("a\n\nb\n"), assistant("\n c \n"), user(" ")],
    "numbers": [user("n"), assistant("", tool_calls=[call(ODD_NUMBERS)])],
}

SETTINGS = [
    {},
    {"tools": [TOOL]},
    {"tools": [TOOL, TOOL], "enable_thinking": False, "documents": [{"title": "T", "text": "X", "contents": "c"}]},
    {"tools": None, "documents": None, "enable_thinking": True, "date_string": "01 Jan 2025",
     "builtin_tools": ["browser", "python", "brave_search"], "reasoning_effort": "high", "custom_tools": None,
     "tools_in_user_message": False},
]


def contexts():
    """Every conversation under every setting: (name, context)."""
    for name, messages in CONVERSATIONS.items():
        for i, setting in enumerate(SETTINGS):
            for prompt in (True, False):
                yield f"{name}/{i}/{prompt}", {"messages": messages, "add_generation_prompt": prompt,
                                               "bos_token": "<s>", "eos_token": "</s>", **setting}
