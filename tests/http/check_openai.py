"""The openai package against `serve`: replies, streams, stop strings, seeds, errors, leaving, neighbours, the end."""
import concurrent.futures
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import checks
import serving
import tiny_model

QUESTION = [{"role": "user", "content": "Why is the sky blue? Answer in two sentences."}]
ALIAS = "some/alias"
NAMES = ("--served-model-name", "tiny-talk", "--served-model-name", ALIAS)
CONTEXT = 700


def chat(client, messages=None, **fields):
    extra = {k: fields.pop(k) for k in list(fields) if k in ("top_k", "min_p", "ignore_eos", "draft")}
    return client.chat.completions.create(model="any", messages=messages or QUESTION, extra_body=extra, **fields)


def texts(message):
    """What a message or a delta says: (answer, reasoning)."""
    return message.content or "", getattr(message, "reasoning_content", None) or ""


def joined(stream):
    """A stream's (answer, reasoning), its last chunk with a choice, its usage, how often a role came."""
    answer, thought, last, usage, roles = "", "", None, None, 0
    for chunk in stream:
        if chunk.usage:
            usage = chunk.usage
        for choice in chunk.choices:
            answer += texts(choice.delta)[0]
            thought += texts(choice.delta)[1]
            roles += choice.delta.role is not None
            last = chunk
    return (answer, thought), last, usage, roles


def check_models(c, client, server):
    names = [m.id for m in client.models.list()]
    c.equal("models: every name is listed", ["tiny-talk", ALIAS], names)
    for name in names:
        c.equal(f"models: {name} is found", name, client.models.retrieve(name).id)
    c.equal("models: the window", CONTEXT, client.models.retrieve(ALIAS).max_model_len)
    error = refusal(lambda: client.models.retrieve("nobody"))
    c.equal("models: an unknown one", (404, "model_not_found"), (error.status_code, error.code))
    status, headers, body = server.request("GET", "/v1/models/?x=1", headers={"Origin": "http://localhost:1"})
    c.equal("models: slash, query and a local page", (200, "http://localhost:1"),
            (status, headers["Access-Control-Allow-Origin"]))
    c.equal("models: without /v1", json.loads(body), json.loads(server.request("GET", "/models")[2]))
    c.equal("models: a foreign page", 403, server.request("GET", "/v1/models", headers={"Origin": "http://a.b"})[0])
    c.equal("routes: unknown", 404, server.request("POST", "/v1/nothing", "{}")[0])
    status, headers, _ = server.request("GET", "/v1/completions")
    c.equal("routes: wrong method", (405, "POST"), (status, headers["Allow"]))
    c.equal("health: ok", "ok", server.health()["status"])


def check_whole(c, client, binary, model):
    """Chat as the command line answers it."""
    reply = chat(client, max_tokens=24)
    message = reply.choices[0].message
    c.equal("chat: kind", ("chat.completion", "assistant", "length"),
            (reply.object, message.role, reply.choices[0].finish_reason))
    c.check("chat: id", reply.id.startswith("chatcmpl-") and len(reply.id) == 41, reply.id)
    c.equal("chat: usage", (24, reply.usage.prompt_tokens + 24),
            (reply.usage.completion_tokens, reply.usage.total_tokens))
    c.equal("chat: the name of what answered", "tiny-talk", reply.model)
    c.equal("chat: window", (CONTEXT, reply.usage.total_tokens),
            (reply.tensorfold["context_window"], reply.tensorfold["context_used"]))
    run = subprocess.run([binary, "run", model, QUESTION[0]["content"], "--stats", "--max-tokens", "24"],
                         capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    c.equal("chat: the text that run prints", run.stdout.strip(), message.content.strip())
    c.check("chat: the token_sha that run tells", reply.tensorfold["token_sha"] in run.stderr, run.stderr)
    c.equal("chat: a name of ours comes back", ALIAS,
            client.chat.completions.create(model=ALIAS, messages=QUESTION, max_tokens=1).model)
    for name in ("system", "developer"):
        spoken = [{"role": name, "content": [{"type": "text", "text": "Be brief."}]}, *QUESTION]
        c.equal(f"chat: a {name} message in parts", 2, chat(client, spoken, max_tokens=2).usage.completion_tokens)


SETTINGS = [
    {},
    {"temperature": 1.0},
    {"temperature": 1.5, "seed": -7, "top_k": 40},
    {"temperature": 0.8, "top_p": 0.9},
    {"temperature": 1.2, "min_p": 0.05, "seed": 2**63},
    {"temperature": 2, "ignore_eos": True},
    {"stop": ["."]},
]


def check_streams(c, client):
    """Deltas joined equal the whole reply, whatever draws the tokens."""
    for fields in SETTINGS:
        whole = chat(client, max_tokens=16, **fields)
        stream = chat(client, max_tokens=16, stream=True, stream_options={"include_usage": True}, **fields)
        text, last, usage, roles = joined(stream)
        name = f"stream {fields}"
        c.equal(f"{name}: text", texts(whole.choices[0].message), text)
        c.equal(f"{name}: finish", whole.choices[0].finish_reason, last.choices[0].finish_reason)
        c.equal(f"{name}: token_sha", whole.tensorfold["token_sha"], last.tensorfold["token_sha"])
        c.equal(f"{name}: usage", whole.usage, usage)
        c.equal(f"{name}: one role", 1, roles)
    c.equal("stream: no usage unasked", None, joined(chat(client, max_tokens=2, stream=True))[2])
    text = "".join(x.choices[0].text
                   for x in client.completions.create(model="any", prompt="Once", max_tokens=9, stream=True, echo=True))
    c.equal("stream: completions with their prompt",
            client.completions.create(model="any", prompt="Once", max_tokens=9, echo=True).choices[0].text, text)


def check_helper(c, client):
    """The package's strictest reader of streams."""
    with client.chat.completions.stream(model="any", messages=QUESTION, stop=" the") as events:
        final = events.get_final_completion()
    c.equal("stream: the strict helper",
            chat(client, stop=" the").choices[0].message.content, final.choices[0].message.content)


def check_stops(c, client):
    """Every stop string that the reply holds cuts it there, tokens or not; nothing of it is sent."""
    whole = chat(client, max_tokens=24)
    text = whole.choices[0].message.content
    cuts = [(0, 1), (0, 5), (3, 9), (7, 8), (10, 30), (len(text) // 2, len(text) // 2 + 7), (len(text) - 4, len(text))]
    for begin, end in cuts:
        stop = text[begin:end]
        expected = text[:text.index(stop)]
        for stream in (False, True):
            reply = chat(client, max_tokens=24, stop=[stop, "never \u2603"], stream=stream)
            (got, _), last = joined(reply)[:2] if stream else (texts(reply.choices[0].message), reply)
            c.equal(f"stop {stop!r} stream={stream}", (expected, "stop", stop),
                    (got, last.choices[0].finish_reason, last.stop_sequence))
    stopped = chat(client, max_tokens=24, stop=text[10:14])
    c.check("stop: the tokens that complete it count", 0 < stopped.usage.completion_tokens < 24, stopped.usage)
    c.equal("stop: absent", None, getattr(whole, "stop_sequence", None))


def check_completions(c, client, binary, model):
    """Ids as `generate` gives them, from every form of a prompt."""
    prompt = "The three largest cities of France are"
    ids = json.loads(checks.run(binary, "tokenize", model, "--jsonl", "--special", stdin=json.dumps(prompt).encode()))
    for options in ({}, {"temperature": 0.9}, {"temperature": 0.9, "seed": 5}):
        flags = [x for k, v in options.items() for x in (f"--{k}", v)]
        with checks.ids_file(ids) as path:
            made = json.loads(checks.run(binary, "generate", model, "--ids", "@" + path, "--max-tokens", 20,
                                         "--stop-at-eos", "--json", *flags))
        for form in (prompt, [prompt], ids, [ids]):
            reply = client.completions.create(model="any", prompt=form, max_tokens=20, **options)
            c.equal(f"completions {options} from {type(form).__name__}", (made["token_sha"], len(ids)),
                    (reply.tensorfold["token_sha"], reply.usage.prompt_tokens))
    nothing = client.completions.create(model="any", prompt=prompt, max_tokens=0, echo=True)
    c.equal("completions: no tokens, with the prompt", (prompt, "length", 0),
            (nothing.choices[0].text, nothing.choices[0].finish_reason, nothing.usage.completion_tokens))
    plain = client.completions.create(model="any", prompt=ids, max_tokens=3).choices[0].text
    c.equal("completions: the prompt comes first", prompt + plain,
            client.completions.create(model="any", prompt=ids, max_tokens=3, echo=True).choices[0].text)
    choice = chat(client, max_completion_tokens=0).choices[0]
    c.equal("completions: chat without tokens", ("", "length"), (choice.message.content, choice.finish_reason))


def refusal(call):
    import openai
    try:
        call()
    except openai.APIStatusError as error:
        return error
    raise AssertionError("nothing was refused")


def check_seeds(c, client):
    asked = [{}, {}, {"seed": 1}, {"seed": 1}, {"seed": 2}, {"seed": -1}, {"seed": 2**64 - 1}, {"draft": False}]
    sha = [chat(client, max_tokens=16, temperature=1.3, **f).tensorfold["token_sha"] for f in asked]
    c.equal("seeds: none repeats itself", sha[0], sha[1])
    c.equal("seeds: one repeats itself", sha[2], sha[3])
    c.check("seeds: others differ", len({sha[0], sha[2], sha[4], sha[5]}) == 4, sha)
    c.equal("seeds: 64 bits, with a sign or without", sha[5], sha[6])
    c.equal("drafts: off is the same", sha[0], sha[7])


def check_overflow(c, client):
    long = [{"role": "user", "content": "word " * (CONTEXT * 3)}]
    n = refusal(lambda: chat(client, long))
    c.equal("overflow: code and field", (400, "context_length_exceeded", "messages"), (n.status_code, n.code, n.param))
    c.check("overflow: both numbers", f"maximum context length is {CONTEXT} tokens" in n.message, n.message)
    n = refusal(lambda: client.completions.create(model="any", prompt=[1] * CONTEXT))
    c.equal("overflow: completions", ("context_length_exceeded", "prompt"), (n.code, n.param))
    n = refusal(lambda: client.completions.create(model="any", prompt=[1] * (CONTEXT + 1), max_tokens=0))
    c.check("overflow: what fits without a reply", f"at most {CONTEXT} tokens" in n.message, n.message)
    last = client.completions.create(model="any", prompt=[1] * (CONTEXT - 1))
    c.equal("overflow: one token short of it", (CONTEXT - 1, 1),
            (last.usage.prompt_tokens, last.usage.completion_tokens))
    n = refusal(lambda: client.completions.create(model="any", prompt=[1] * 10, max_tokens=CONTEXT - 9))
    c.equal("overflow: a reply that is too long", "context_length_exceeded", n.code)


# Fields that may hold an object; for these a list is nonsense.
OBJECTS = {"metadata", "prompt_cache_options", "prediction", "stream_options", "response_format", "audio", "moderation",
           "web_search_options", "logit_bias", "function_call", "tool_choice"}
# What is the package's own and is not sent.
LOCAL = ("extra_headers", "extra_query", "extra_body", "timeout")


def check_every_field(c, client, server):
    """Each parameter of the package's create(): null is absent, nonsense is refused by its name."""
    for route, create, base in (("/v1/chat/completions", client.chat.completions.create, {"messages": QUESTION}),
                                ("/v1/completions", client.completions.create, {"prompt": "a"})):
        names = [n for n in inspect.signature(create).parameters if n not in LOCAL]
        c.check(f"fields: {route} has a signature", len(names) > 15, names)
        for name in names:
            if name not in base:
                status, answer = server.post(route, {"max_tokens": 1, **base, name: None})
                c.equal(f"fields: {route} {name} null", 200, status)
            nonsense = [5] if name in OBJECTS else {"a": 1}
            status, answer = server.post(route, {"max_tokens": 1, **base, name: nonsense})
            error = answer.get("error", {})
            c.equal(f"fields: {route} {name} nonsense", (400, name), (status, error.get("param")))


def check_neighbours(c, client):
    """Requests that come together get the replies that each gets alone."""
    asks = [dict(messages=[{"role": "user", "content": f"Count to {i}."}], max_tokens=5 + 3 * i, temperature=i % 3)
            for i in range(8)]
    alone = [chat(client, **dict(a)).tensorfold["token_sha"] for a in asks]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda a: chat(client, **dict(a)).tensorfold["token_sha"], asks))
    c.equal("neighbours: as alone", alone, together)


def check_conversations(c, client):
    """What the template has no form for is refused under the field's name, with a code."""
    user = {"role": "user", "content": "hi"}
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    cases = [({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools", "unsupported_parameter"),
             ({"messages": [user, {"role": "assistant", "tool_calls": [call]}]}, "messages[1].tool_calls",
              "unsupported_parameter"),
             ({"messages": [user, {"role": "bot", "content": "hi"}]}, "messages[1].role", "invalid_value")]
    for fields, param, code in cases:
        n = refusal(lambda fields=fields: chat(client, **fields))
        c.equal(f"conversation: {param}", (400, param, code), (n.status_code, n.param, n.code))


def wait_idle(server, cancelled):
    """Whether the server counts one more cancelled request and rests, soon."""
    for _ in range(100):
        health = server.health()
        if health["requests_running"] == 0 and health["requests_cancelled_total"] == cancelled:
            return True
        time.sleep(0.05)
    return False


def check_leaving(c, client, server):
    """A client that leaves ends its request: in a stream, waiting for a whole reply, during a long prompt."""
    before = server.health()["requests_cancelled_total"]
    stream = chat(client, stream=True, ignore_eos=True)
    next(iter(stream))
    stream.close()
    c.check("leaving: a stream", wait_idle(server, before + 1))
    for name, body in (("a whole reply", {"messages": QUESTION, "ignore_eos": True}),
                       ("a prompt", {"messages": [{"role": "user", "content": "w " * 500}], "ignore_eos": True})):
        text = json.dumps(body).encode()
        before = server.health()["requests_cancelled_total"]
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
            time.sleep(0.2)
        c.check(f"leaving: {name}", wait_idle(server, before + 1))
    c.equal("leaving: the next one is right", 3, chat(client, max_tokens=3).usage.completion_tokens)


SPELLINGS_OF_OFF = [
    {"enable_thinking": False},
    {"thinking": {"type": "disabled"}},
    {"thinking": False},
    {"reasoning_effort": "none"},
    {"chat_template_kwargs": {"enable_thinking": False}},
    {"chat_template_kwargs": {"thinking": False}},
    {"chat_template_kwargs": {"reasoning_effort": "none"}},
    {"enable_thinking": False, "chat_template_kwargs": {"enable_thinking": True}},
]


def check_thinking(c, binary, folder):
    """Every spelling of thinking off renders one prompt; an open block makes the reply's beginning reasoning."""
    import openai
    with serving.Serving(binary, folder, "--date", "2026-03-04") as server:
        client = openai.OpenAI(base_url=server.url, api_key="none")
        on = chat(client, max_tokens=12)
        c.check("thinking: on by default", on.tensorfold["enable_thinking"] and on.choices[0].message.reasoning_content)
        c.equal("thinking: the alias", on.choices[0].message.reasoning_content, on.choices[0].message.reasoning)
        c.equal("thinking: tokens of reasoning", (12, ""),
                (on.usage.completion_tokens_details.reasoning_tokens, on.choices[0].message.content))
        c.equal("thinking: the day", "2026-03-04", on.tensorfold["date"])
        streamed = joined(chat(client, max_tokens=12, stream=True))[0]
        c.equal("thinking: streamed", texts(on.choices[0].message), streamed)
        said = set()
        for off in SPELLINGS_OF_OFF:
            reply = client.chat.completions.create(model="any", messages=QUESTION, max_tokens=12, extra_body=off)
            said.add((reply.usage.prompt_tokens, reply.tensorfold["token_sha"], reply.tensorfold["enable_thinking"],
                      reply.tensorfold["reasoning_effort"], reply.choices[0].message.content != ""))
        c.check("thinking: eight spellings of off",
                len(said) == 1 and next(iter(said))[2:] == (False, "none", True), said)
        error = refusal(lambda: chat(client, reasoning_effort="lots"))
        c.check("thinking: an unknown effort", error.param == "reasoning_effort" and "xhigh" in error.message, error)
        error = refusal(lambda: chat(client, [{"role": "user", "content": "REFUSE"}]))
        c.check("thinking: the template's own refusal", (error.status_code, error.param) == (400, "messages")
                and "not this word" in error.message, error)


def check_start_and_end(c, binary, model, tests, tokens):
    """What is wrong at the start is one sentence; a signal lets the reply in progress, of so many tokens, end."""
    import openai
    with serving.Serving(binary, model) as server:
        taken = subprocess.run([binary, "serve", model, "--port", str(server.port)], capture_output=True, text=True,
                               check=False)
        c.check("start: a taken port", taken.returncode == 1 and str(server.port) in taken.stderr
                and taken.stderr.count("\n") == 1, taken)
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        expected = chat(client, max_tokens=tokens, ignore_eos=True).choices[0].message.content
        stream = chat(client, max_tokens=tokens, ignore_eos=True, stream=True)
        next(iter(stream))
        server.process.send_signal(signal.SIGINT)
        c.equal("end: the reply in progress is finished", expected, joined(stream)[0][0])
        server.process.wait(30)
        c.equal("end: status", 0, server.process.returncode)
    with serving.Serving(binary, model) as server:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        stream = chat(client, ignore_eos=True, stream=True)
        next(iter(stream))
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        begin = time.monotonic()
        server.stop()
        c.check("end: the second signal is at once", time.monotonic() - begin < 2)
        c.equal("end: the second signal's status", 128 + signal.SIGTERM, server.process.returncode)
    bare = os.path.join(tests, "golden", "llama")
    for arguments, words in ((("./nowhere.gguf",), "nowhere.gguf: not there; name"), ((bare,), "tokenizer.json"),
                             ((model, "--host", "256.1.1.1"), "256.1.1.1")):
        r = subprocess.run([binary, "serve", *arguments], capture_output=True, text=True, check=False, timeout=60)
        c.check(f"start: {arguments}", (r.returncode, r.stdout) == (1, "") and words in r.stderr
                and r.stderr.count("\n") == 1, r)
    r = subprocess.run([binary, "serve", model, "--served-model-name", ""], capture_output=True, text=True, check=False,
                       timeout=60)
    c.check("start: a name that is empty", r.returncode == 2 and "--served-model-name" in r.stderr, r)


def check_closed_streams(c, binary, model):
    """Standard streams that came closed never become a file or a socket that messages would be written to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    process = subprocess.Popen(["sh", "-c", 'exec "$0" serve "$1" --port "$2" <&- >&- 2>&-', binary, model, port])
    try:
        for _ in range(600):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", int(port))) == 0:
                    break
            time.sleep(0.1)
        if os.path.exists("/proc/self/fd"):
            held = [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3)]
            c.equal("closed streams: what has their numbers", ["/dev/null"] * 3, held)
    finally:
        process.kill()
        process.wait()


def check_ping(c, binary, model):
    """A prompt that takes long is accompanied by comments."""
    with serving.Serving(binary, model, "--isa", "ref", "--threads", 1) as server:
        body = json.dumps({"messages": [{"role": "user", "content": "word " * 100}], "stream": True, "max_tokens": 1})
        text = server.request("POST", "/v1/chat/completions", body, timeout=600)[2].decode()
        c.check("ping: in a long prompt", ": ping\n\n" in text and text.endswith("data: [DONE]\n\n"), text[-300:])


def check_default_model(c, binary, model):
    """What needs a model that writes sentences."""
    import openai
    with serving.Serving(binary, model, "--context", CONTEXT, "--verbose", *NAMES) as server:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        check_whole(c, client, binary, model)
        check_helper(c, client)
        check_stops(c, client)
        check_conversations(c, client)
        check_completions(c, client, binary, model)
        check_leaving(c, client, server)
        log = server.stop()[1]
        c.check("leaving: is logged, streams too", re.search(r"ended \S+: the client left\n", log)
                and log.count(": the client left") == 3, log)


def check_tiny_model(c, binary, folder):
    """What any model shows."""
    import openai
    with serving.Serving(binary, folder, "--context", CONTEXT, *NAMES) as server:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        check_models(c, client, server)
        check_streams(c, client)
        check_seeds(c, client)
        check_overflow(c, client)
        check_every_field(c, client, server)
        check_neighbours(c, client)
        status, errors = server.stop()
        c.equal("serve: ends well", 0, status)
        c.check("serve: says so in one line", errors.count("\n") == 1, errors)


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    binary, model, tests = arguments.binary, arguments.model, arguments.tests
    with tempfile.TemporaryDirectory() as folder:
        tiny_model.make_thinking(folder, tests)
        check_tiny_model(c, binary, folder)
        check_thinking(c, binary, folder)
        check_closed_streams(c, binary, folder)
    check_default_model(c, binary, model)
    few = arguments.no_time_limits  # a sanitizer build must be done within the server's 30 s
    check_start_and_end(c, binary, model, tests, 8 if few else 60)
    if arguments.full and not arguments.no_time_limits:
        check_ping(c, binary, model)
    c.close()


if __name__ == "__main__":
    main()
