"""Drives the binary as a person or a script would: usage, messages, statuses, pipes, JSON lines, the chat on a pty."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import checks
import terminal
import tiny_model

COMMANDS = ["run", "serve", "info", "bench", "kcheck", "tokenize", "generate", "logits", "help"]
TEMPLATE = """{% for m in messages %}<turn>{{ m['role'] }}
{{ m['content'] }}</s>{% endfor %}{% if add_generation_prompt %}<turn>assistant
{% endif %}"""


class Binary:
    """Runs the binary; stdin is empty unless given."""

    def __init__(self, path, home):
        self.path = os.path.abspath(path)
        self.env = dict(os.environ, XDG_CACHE_HOME=home)

    def __call__(self, *arguments, stdin=b"", timeout=120):
        return subprocess.run([self.path, *map(str, arguments)], input=stdin, capture_output=True, env=self.env,
                              timeout=timeout, check=False)


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        json.dump(value, out)


def check_usage(c, tf):
    """Bad usage: status 2, one line on stderr that says what and where to look, nothing on stdout."""
    cases = [
        ((), "no command was given"),
        (("frobnicate",), "there is no command frobnicate"),
        (("tokenise", "m", "--jsonl"), "did you mean tokenize?"),
        (("info",), "info needs MODEL"),
        (("info", "m", "--treads", "2"), "did you mean --threads?"),
        (("bench", "m", "--threads", "0"), "from 1 to 1024"),
        (("run", "m", "hi", "--date", "2026-02-30"), "takes a day"),
        (("serve", "m", "--date", "tomorrow"), "takes a day"),
        (("run", "m", "hi", "--raw", "--system", "x"), "--raw has no place for --system"),
        (("generate", "m"), "generate needs --ids IDS"),
        (("generate", "m", "--ids", "1,,2"), "expected token ids"),
        (("logits", "m", "--ids", "1,2", "--positions", "2", "--npy", "x.npy"), "outside the 2 ids"),
        (("tokenize", "m"), "tokenize needs --jsonl"),
        (("info", "m", "--isa", "mmx"), "mmx"),
        (("kcheck", "--isa", "mmx"), "mmx"),
        (("tokenize", "m", "--jsonl", "--isa", "mmx"), "mmx"),
        (("help", "frobnicate"), "there is no command frobnicate"),
    ]
    for arguments, message in cases:
        r = tf(*arguments)
        text = r.stderr.decode()
        name = "usage: " + " ".join(arguments)
        c.equal(f"{name}: status", 2, r.returncode)
        c.equal(f"{name}: stdout", b"", r.stdout)
        c.check(f"{name}: message", message in text and text.count("\n") == 1 and "tensorfold help" in text, text)


def check_failures(c, tf, folder, tests):
    """Failures: status 1 and one line on stderr."""
    llama = os.path.join(tests, "golden", "llama")
    cases = [
        (("info", "/nowhere/model"), "/nowhere/model"),
        (("run", "./nowhere.gguf", "hello"), "nowhere.gguf"),
        (("run", "hello"), "the default model is not there yet"),
        (("run", folder, ""), "the prompt is empty"),
        (("run", llama, "hello"), "has no tokenizer.json"),
        (("generate", llama, "--ids", "@/nowhere.json"), "/nowhere.json"),
        (("generate", llama, "--ids", "1,512", "--max-tokens", "1"), "512"),
        (("logits", llama, "--ids", "1", "--positions", "0", "--npy", "/nowhere/x.npy"), "/nowhere/x.npy"),
        (("tokenize", llama, "--jsonl"), "has no tokenizer.json"),
        (("kcheck", "--op", "nosuch.*"), "no check matches"),
        (("info", "/nowhere/\x1b[31m\nmodel"), "/nowhere/\ufffd[31m\ufffdmodel"),
    ]
    for arguments, message in cases:
        r = tf(*arguments)
        text = r.stderr.decode()
        name = "failure: " + ascii(" ".join(arguments))
        c.equal(f"{name}: status", 1, r.returncode)
        c.check(f"{name}: message", message in text and text.count("\n") == 1, text)
    if not os.path.exists("/dev/full"):
        return
    with open("/dev/full", "wb") as full:
        r = subprocess.run([tf.path, "help"], stdout=full, stderr=subprocess.PIPE, env=tf.env, check=False)
    c.equal("failure: full disk", (1, b"tensorfold: cannot write to standard output\n"), (r.returncode, r.stderr))


def check_help(c, tf):
    overview = tf("--help").stdout.decode()
    c.equal("help: overview names every command", COMMANDS, re.findall(r"^  (\w+) ", overview, re.M))
    manual = tf("help", "--man").stdout.decode().replace("\\-", "-")
    completion = tf("help", "--completion").stdout.decode()
    for command in COMMANDS:
        text = tf(command, "--help").stdout.decode()
        c.equal(f"help: {command} both ways", text, tf("help", command).stdout.decode())
        flags = re.findall(r"^  --([a-z-]+)", text, re.M)
        section = manual.partition(f'.SS "tensorfold {command}')[2].partition(".SS")[0].partition(".SH")[0]
        c.equal(f"help: manual of {command}", [f for f in flags if f != "help"],
                re.findall(r"^\.B --([a-z-]+)", section, re.M))
        offered = re.search(rf'^    {command}\) flags="(.*)" ;;$', completion, re.M)
        c.equal(f"help: completion of {command}", ["--" + f for f in flags], offered and offered.group(1).split())
        c.check(f"help: {command} has flags", "help" in flags, text)
    c.equal("help: completion is a script", 0, subprocess.run(["bash", "-n"], input=completion.encode(),
                                                              check=False).returncode)
    version = tf("--version").stdout.decode()
    c.check("help: version", re.match(r"tensorfold \S+\narithmetic cpu-\d+\ncompiler (gcc|clang) .+\ncuda (yes|no)\n"
                                      r"isa ref.*\n$", version), version)


def lines_of(result):
    return [json.loads(line) for line in result.stdout.decode().splitlines()]


def check_tokenize(c, tf, folder, tokenizer):
    texts = ["plain words", "<turn>x</s>", "é 中 😀\n\t", "", "a\u0000b"]
    lines = "".join(json.dumps(t) + "\n" for t in texts).encode()
    ids = [tokenizer.encode(t, add_special_tokens=False).ids for t in texts]
    c.equal("tokenize: ids", ids, lines_of(tf("tokenize", folder, "--jsonl", stdin=lines)))
    back = "".join(json.dumps(i) + "\n" for i in ids).encode()
    c.equal("tokenize: back", texts, lines_of(tf("tokenize", folder, "--jsonl", "--decode", stdin=back)))
    plain = lines_of(tf("tokenize", folder, "--jsonl", "--plain", stdin=b'"<turn>"'))
    c.check("tokenize: plain text holds no added token", plain and tokenizer.token_to_id("<turn>") not in plain[0],
            plain)
    bad = b'"ok"\n"\\ud800"\n{"a": 1}\n\n"\xff"\n"fine"'
    r = tf("tokenize", folder, "--jsonl", stdin=bad)
    answers = lines_of(r)
    c.equal("tokenize: status of bad lines", 1, r.returncode)
    c.equal("tokenize: one answer a line", 6, len(answers))
    c.equal("tokenize: which lines fail", [1, 2, 3, 4], [i for i, a in enumerate(answers) if isinstance(a, dict)])
    c.check("tokenize: errors are named", all(list(a) == ["error"] for a in answers if isinstance(a, dict)), answers)
    c.check("tokenize: message", b"4 of 6 lines" in r.stderr and r.stderr.count(b"\n") == 1, r.stderr)
    r = tf("tokenize", folder, "--jsonl", "--decode", stdin=b"[1]\n[99999]\n[-1]\n[1.5]\n")
    c.equal("tokenize: bad ids", [1, 2, 3], [i for i, a in enumerate(lines_of(r)) if isinstance(a, dict)])
    with tempfile.TemporaryDirectory() as alone:
        shutil.copy(os.path.join(folder, "tokenizer.json"), alone)
        c.equal("tokenize: a folder of tokenizer files", ids, lines_of(tf("tokenize", alone, "--jsonl", stdin=lines)))


def check_generate(c, tf, tests):
    folder = os.path.join(tests, "golden", "llama")
    ref = os.path.join(folder, "ref.json")
    with open(ref, encoding="utf-8") as file:
        stored = json.load(file)
    r = tf("generate", folder, "--ids", "@" + ref, "--max-tokens", 8, "--temperature", 0, "--json")
    got = json.loads(r.stdout)
    c.equal("generate: keys", ["ids", "token_sha", "timings", "prefill_widths"], list(got))
    c.equal("generate: timings", ["prompt_ms", "decode_ms"], list(got["timings"]))
    c.equal("generate: ids", stored["greedy"][:8], got["ids"])
    c.equal("generate: prompt rows", len(stored["prompt"]), sum(got["prefill_widths"]))
    c.check("generate: token_sha", re.fullmatch(r"[0-9a-f]{12}", got["token_sha"]), got["token_sha"])
    forced = json.loads(tf("generate", folder, "--ids", "@" + ref, "--max-tokens", 8, "--prefill-width", 7,
                           "--json").stdout)
    c.equal("generate: another width, equal ids", got["ids"], forced["ids"])
    c.equal("generate: the width asked for", 7, max(forced["prefill_widths"]))
    inline = ",".join(map(str, stored["prompt"]))
    plain = tf("generate", folder, "--ids", inline, "--max-tokens", 8).stdout.decode()
    c.equal("generate: inline ids, plain output", ",".join(map(str, got["ids"])) + "\n", plain)

    def sampled(*more):
        return tf("generate", folder, "--ids", "1,2,3", "--max-tokens", 16, "--temperature", 2, *more).stdout
    c.equal("generate: the default seed is fixed", sampled(), sampled())
    c.check("generate: another seed, another draw", sampled("--seed", 1) != sampled("--seed", 2))
    c.equal("generate: top-k 1 is greedy", tf("generate", folder, "--ids", "1,2,3", "--max-tokens", 16).stdout,
            sampled("--top-k", 1))
    c.equal("generate: top-p 0 is greedy, as in a request", sampled("--top-k", 1), sampled("--top-p", 0))


def check_end_ids(c, tf, folder):
    """Goes past end ids unless told otherwise; finds them in each file that names one."""
    ids = tf("generate", folder, "--ids", "1,2,3", "--max-tokens", 24).stdout.decode().strip().split(",")
    end = int(ids[10])
    first = ids.index(str(end)) + 1

    def stopped():
        return len(tf("generate", folder, "--ids", "1,2,3", "--max-tokens", 24, "--stop-at-eos").stdout.split(b","))
    files = {}
    for name in ("config.json", "generation_config.json", "tokenizer_config.json"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            files[name] = json.load(file)
    for name, content in files.items():
        for other, old in files.items():
            write_json(folder, other, {k: v for k, v in old.items() if k not in ("eos_token_id", "eos_token")})
        added = {"eos_token": "END", "added_tokens_decoder": {str(end): {"content": "END"}}}
        write_json(folder, name, {**content, **(added if "tokenizer" in name else {"eos_token_id": [510, end]})})
        c.equal(f"generate: end id from {name}", first, stopped())
    for name, content in files.items():
        write_json(folder, name, content)


def check_logits(c, tf, tests, work):
    import numpy
    folder = os.path.join(tests, "golden", "llama")
    ref = os.path.join(folder, "ref.json")
    with open(ref, encoding="utf-8") as file:
        stored = json.load(file)
    expected = numpy.load(os.path.join(folder, "ref_logits.npy"))
    order = [len(stored["positions"]) - 1, 0, 1, 0]
    positions = ",".join(str(stored["positions"][i]) for i in order)
    out = os.path.join(work, "out.npy")
    r = tf("logits", folder, "--ids", "@" + ref, "--positions", positions, "--npy", out)
    c.equal("logits: status", (0, b""), (r.returncode, r.stderr))
    got = numpy.load(out)
    c.equal("logits: form", ("float32", (4, expected.shape[1]), True),
            (str(got.dtype), got.shape, got.flags.c_contiguous))
    worst = float(numpy.abs(got - expected[order]).max())
    c.check("logits: rows in the order asked for", worst < 1e-3, f"{worst} off")
    everything = ",".join(map(str, range(len(stored["prompt"]))))
    for width in (1, 7, 300):
        tf("logits", folder, "--ids", "@" + ref, "--positions", everything, "--npy", out, "--prefill-width", width)
        rows = numpy.load(out)[stored["positions"]][order]
        c.check(f"logits: all positions, width {width}", numpy.array_equal(rows, got))


def check_info(c, tf, folder):
    info = json.loads(tf("info", folder, "--json").stdout)
    c.equal("info: family and vocabulary", ("llama", 512, True), (info["family"], info["vocab"], info["tied"]))
    text = tf("info", folder).stdout.decode()
    c.check("info: text has the same figures", all(f"{k:18} {info[k]}" in text for k in ("hidden", "total_bytes")),
            text)
    c.check("info: fits", info["fits"] and "does not fit" not in text, text)


def check_info_of_what_does_not_fit(c, tf, folder, work):
    """A context of a thousand million tokens is described by its figures, and only running it is refused."""
    vast = os.path.join(work, "vast")
    shutil.copytree(folder, vast)
    path, tokens = os.path.join(vast, "config.json"), 10**9
    with open(path, encoding="utf-8") as f:
        config = json.load(f)
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**config, "max_position_embeddings": tokens}, f)
    info = json.loads(tf("info", vast, "--json", "--context", tokens).stdout)
    c.equal("info of what does not fit: figures", (False, tokens, tokens * info["cache_token_bytes"]),
            (info["fits"], info["planned_context"], info["cache_bytes"]))
    text = tf("info", vast, "--context", tokens).stdout.decode()
    c.check("info of what does not fit: what is wanting", "does not fit" in text and "MB are available" in text, text)
    r = tf("generate", vast, "--ids", "1", "--max-tokens", 1, "--context", tokens)
    c.check("generate what does not fit", r.returncode == 1 and b"MB are available" in r.stderr, r)


def check_bench(c, tf, folder):
    r = tf("bench", folder, "--json", "--runs", 2, "--prompt-tokens", 16, "--decode-tokens", 8, "--threads", 1)
    got = json.loads(r.stdout)
    wanted = {"decode_tps", "prompt_tps", "gb_per_s", "share_of_bandwidth", "threads", "isa", "token_sha"}
    c.check("bench: keys", wanted <= set(got), got)
    c.equal("bench: threads and runs", (1, 2), (got["threads"], len(got["decode_tps_all"])))
    figures = ("decode_tps", "prompt_tps", "gb_per_s", "share_of_bandwidth")
    c.check("bench: figures", all(got[k] > 0 for k in figures), got)


def check_run(c, tf, folder, tokenizer):
    """One reply, against the ids that `generate` gives for the same prompt."""
    prompt = "hello there"
    ids = tokenizer.encode(f"<turn>user\n{prompt}</s><turn>assistant\n", add_special_tokens=False).ids
    reply = json.loads(tf("generate", folder, "--ids", ",".join(map(str, ids)), "--max-tokens", 40, "--stop-at-eos",
                          "--json").stdout)
    text = tokenizer.decode(reply["ids"])
    line = (text if text.endswith("\n") else text + "\n").encode()
    r = tf("run", folder, prompt, "--max-tokens", 40, "--stats")
    c.equal("run: text", line, r.stdout)
    c.check("run: stats", f"token_sha {reply['token_sha']}" in r.stderr.decode() and r.stderr.count(b"\n") == 1,
            r.stderr)
    piped = tf("run", folder, "--max-tokens", 40, stdin=prompt.encode() + b"\n")
    c.equal("run: from a pipe, quiet", (line, b""), (piped.stdout, piped.stderr))
    raw = tokenizer.encode(prompt).ids
    reply = json.loads(tf("generate", folder, "--ids", ",".join(map(str, raw)), "--max-tokens", 12, "--stop-at-eos",
                          "--json").stdout)
    c.check("run: raw", tokenizer.decode(reply["ids"]).strip() ==
            tf("run", folder, prompt, "--raw", "--max-tokens", 12).stdout.decode().strip())
    stop = text[6:9]
    cut = tf("run", folder, prompt, "--max-tokens", 40, "--stop", stop).stdout.decode()
    c.equal("run: ends before a stop string", text[:text.index(stop)].rstrip("\n"), cut.rstrip("\n"))
    c.check("run: --system changes the reply's prompt",
            tf("run", folder, prompt, "--max-tokens", 40, "--system", "Be brief.").stdout != line)


def check_sampling(c, tf, folder):
    """What generation_config.json recommends, and flags over it."""
    path = os.path.join(folder, "generation_config.json")
    with open(path, encoding="utf-8") as file:
        stored = json.load(file)

    def reply(config, *flags):
        write_json(folder, "generation_config.json", {**stored, **config})
        return tf("run", folder, "hello", "--max-tokens", 24, *flags).stdout
    greedy = reply({})
    warm = {"do_sample": True, "temperature": 3.0}
    c.check("sampling: recommended temperature", reply(warm) != greedy)
    c.equal("sampling: do_sample false", greedy, reply({**warm, "do_sample": False}))
    c.equal("sampling: top_k 1", greedy, reply({**warm, "top_k": 1}))
    c.equal("sampling: a flag wins", greedy, reply(warm, "--temperature", 0))
    c.equal("sampling: flags say the same as the file", reply(warm), reply({}, "--temperature", 3))
    for config, words in (({"repetition_penalty": 1.05}, [b"repetition_penalty 1.05, which is not served yet"]),
                          ({"repetition_penalty": 1.0, "typical_p": None, "no_repeat_ngram_size": 0}, [])):
        write_json(folder, "generation_config.json", {**stored, **config})
        told = tf("run", folder, "hello", "--max-tokens", 1).stderr
        c.check(f"sampling: says what of {config} it leaves out", [w for w in words if w in told] == words
                and told.count(b"\n") == len(words), told)
    write_json(folder, "generation_config.json", stored)


def check_chat(c, tf, folder):
    """The interactive chat on a pseudo terminal."""
    chat = terminal.Terminal([tf.path, "run", folder, "--max-tokens", "8", "--stats"], tf.env)
    c.check("chat: greets", chat.expect("> "), chat.seen)
    chat.send("hi é 😀\r")
    c.check("chat: answers", chat.expect("token_sha") and chat.expect("> "), chat.seen)
    c.check("chat: echoes UTF-8", "hi é 😀" in chat.all, chat.all)
    first = re.findall(r"\[(\d+) prompt tokens", chat.all)
    chat.send("\x1b[200~one\rtwo\rthree\r\x1b[201~")
    c.check("chat: shows a paste", chat.expect("three"), chat.seen)
    c.check("chat: a paste does not send", not chat.expect("token_sha", 0.5), chat.seen)
    chat.send("\r")
    c.check("chat: sends a paste as one message", chat.expect("token_sha") and chat.expect("> "), chat.seen)
    second = re.findall(r"\[(\d+) prompt tokens", chat.all)
    c.check("chat: the conversation grows", len(second) == 2 and int(second[1]) > int(first[0]), second)
    chat.send("half a line\x03")
    c.check("chat: Ctrl-C drops a line", chat.expect("> "), chat.seen)
    chat.send("/clear\r")
    chat.expect("> ")
    chat.send("\x1b[A\x1b[A\x1b[A\r")
    c.check("chat: history and /clear", chat.expect("token_sha") and chat.expect("> "), chat.seen)
    third = re.findall(r"\[(\d+) prompt tokens", chat.all)
    c.equal("chat: the first message again, in a fresh conversation", first[0], third[-1])
    chat.send("/nonsense\r")
    c.check("chat: unknown commands are told", chat.expect("no command /nonsense") and chat.expect("> "), chat.seen)
    chat.send("\x04")
    c.equal("chat: Ctrl-D ends with status 0", 0, chat.wait())
    history = os.path.join(tf.env["XDG_CACHE_HOME"], "tensorfold", "history")
    c.check("chat: history is kept where no cache folder was", os.path.exists(history))
    c.check("chat: history is private", os.path.exists(history) and os.stat(history).st_mode & 0o777 == 0o600)


def check_full_chat(c, tf, folder):
    """A conversation that outgrew the context says how to go on, and goes on."""
    chat = terminal.Terminal([tf.path, "run", folder, "--context", "40", "--max-tokens", "2", "--stats"], tf.env)
    chat.expect("> ")
    chat.send("hi there " * 20 + "\r")
    c.check("chat: a full context names /clear", chat.expect("/clear"), chat.seen)
    chat.expect("> ")
    chat.send("hi\r")
    c.check("chat: goes on", chat.expect("token_sha") and chat.expect("> "), chat.seen)
    chat.send("\x04")
    c.equal("chat: ends after a full context", 0, chat.wait())


def check_raw_chat(c, tf, folder):
    """A chat has no form without the template."""
    chat = terminal.Terminal([tf.path, "run", folder, "--raw"], tf.env)
    c.check("chat: --raw is refused", chat.expect("--raw needs a prompt"), chat.seen)
    c.equal("chat: --raw's status", 2, chat.wait())


def check_templates(c, tf, folder):
    """Reasoning on a terminal, and the day, with templates that have a place for them."""
    path = os.path.join(folder, "chat_template.jinja")
    turns = "{% for m in messages %}<turn>{{ m.role }}\n{{ m.content }}SAID</s>{% endfor %}<turn>assistant\n<think>"

    def second_prompt(said):
        """Tokens of a second prompt, after a reply that is all reasoning."""
        with open(path, "w", encoding="utf-8") as out:
            out.write(turns.replace("SAID", said))
        chat = terminal.Terminal([tf.path, "run", folder, "--max-tokens", "8", "--stats"], tf.env)
        for _ in range(2):
            chat.expect("> ")
            chat.send("hi\r")
            chat.expect("token_sha")
        chat.expect("> ")
        chat.send("\x04")
        c.equal("reasoning: the chat ends", 0, chat.wait())
        c.check("reasoning: is dimmed", "\x1b[2m" in chat.all and "\x1b[0m\r\n" in chat.all, chat.all)
        return int(re.findall(r"\[(\d+) prompt tokens", chat.all)[1])

    dropped, kept = second_prompt("{# </think> #}"), second_prompt("{{ m.reasoning_content }}{# </think> #}")
    c.check("reasoning: goes back only where the template renders it", dropped < kept, (dropped, kept))
    with open(path, "w", encoding="utf-8") as out:
        out.write("{{ strftime_now('%d%B') if strftime_now is defined }}" + turns)
    days = [tf("run", folder, "hi", "--max-tokens", 4, "--stats", "--date", day).stderr.decode().split(" prompt")[0]
            for day in ("2026-05-09", "2026-09-01")]
    c.check("date: is told to the template", len(set(days)) == 2, days)
    os.remove(path)


def check_stop_reply(c, tf, folder):
    """Ctrl-C while a reply runs stops the reply only. The reply is long: it lasts until it is stopped."""
    chat = terminal.Terminal([tf.path, "run", folder, "--stats", "--threads", "1", "--prefill-width", "1", "--stop",
                              "never in there"], tf.env)
    chat.expect("> ")
    chat.send("go on " * 40 + "\r")
    chat.expect("\x1b[?2004l")  # the line was taken: what comes now is the reply
    chat.send("\x03")
    c.check("chat: Ctrl-C stops the reply", chat.expect("stopped]") and chat.expect("> "), chat.seen)
    chat.send("/exit\r")
    c.equal("chat: /exit ends with status 0", 0, chat.wait())


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    with tempfile.TemporaryDirectory() as work:
        home, folder = os.path.join(work, "cache"), os.path.join(work, "model")
        tf = Binary(arguments.binary, home)
        tokenizer = tiny_model.make(folder, arguments.tests, TEMPLATE)
        check_usage(c, tf)
        check_failures(c, tf, folder, arguments.tests)
        check_help(c, tf)
        check_tokenize(c, tf, folder, tokenizer)
        check_generate(c, tf, arguments.tests)
        check_end_ids(c, tf, folder)
        check_logits(c, tf, arguments.tests, work)
        check_info(c, tf, folder)
        check_info_of_what_does_not_fit(c, tf, folder, work)
        check_bench(c, tf, folder)
        check_run(c, tf, folder, tokenizer)
        check_sampling(c, tf, folder)
        check_chat(c, tf, folder)
        check_full_chat(c, tf, folder)
        check_raw_chat(c, tf, folder)
        check_templates(c, tf, folder)
        check_stop_reply(c, tf, folder)
    c.close()


if __name__ == "__main__":
    main()
