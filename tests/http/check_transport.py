"""Raw sockets against a small server on src/server/http.h: framing, limits, slow, stopped and vanished clients."""
import os
import random
import re
import resource
import select
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.checks import Checks, parse_arguments  # noqa: E402
from support.raw_http import HOST, Peer, Reader, Server, chunked, post, read_all, reset, statuses, within  # noqa: E402
from support.serving import Serving  # noqa: E402
from malformed import malformed  # noqa: E402

NEXT = b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n"


def check_malformed(checks, server):
    n = 0
    for name, data in malformed():
        n += 1
        got, end = server.talk(data + NEXT, timeout=5)
        codes = statuses(got)
        refused = all(400 <= c < 600 for c in codes) and b"smuggled" not in got and end != "open"
        checks.check(f"refused: {name}"[:160], refused, f"statuses {codes}, {end}")
        checks.check(f"a request after {name}"[:160], server.healthy())
    checks.check("about 100 malformed requests were tried", n >= 100, str(n))
    for name, data in [("nothing", b""), ("half a request line", b"GET / HT"),
                       ("half a header", b"GET / HTTP/1.1\r\nHo"),
                       ("a head without its end", b"GET / HTTP/1.1\r\n" + HOST),
                       ("TLS", b"\x16\x03\x01\x02\0\x01\0\x01\xfc"), ("zeroes", b"\0" * 5000),
                       ("half a body", post(b"Content-Length: 9\r\n", b"hell")),
                       ("half a chunk", chunked(b"9\r\nhell")), ("no last chunk", chunked(b"4\r\nhell\r\n"))]:
        got, end = server.talk(data, timeout=5, shut=True)
        checks.check(f"closed after {name}", end != "open" and 200 not in statuses(got), f"{got[:80]!r}, {end}")


def check_well_formed(checks, server):
    hello = b"hello"
    good = [
        ("a length", post(b"Content-Length: 5\r\n", hello), hello),
        ("length 0", post(b"Content-Length: 0\r\n", b""), b""),
        ("a length with zeroes in front", post(b"Content-Length: 00005\r\n", hello), hello),
        ("no body", b"GET /x HTTP/1.1\r\n" + HOST + b"\r\n", b""),
        ("a body with GET", b"GET /x HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello", hello),
        ("blank lines in front", b"\r\n\r\nGET /x HTTP/1.1\r\n" + HOST + b"\r\n", b""),
        ("one chunk", chunked(b"5\r\nhello\r\n0\r\n\r\n"), hello),
        ("many chunks", chunked(b"1\r\nh\r\n2\r\nel\r\n2\r\nlo\r\n0\r\n\r\n"), hello),
        ("a size in capitals and zeroes", chunked(b"000A\r\n0123456789\r\n000\r\n\r\n"), b"0123456789"),
        ("a chunk extension", chunked(b'5;name="value"\r\nhello\r\n0;last\r\n\r\n'), hello),
        ("trailers", chunked(b"5\r\nhello\r\n0\r\nX-Sum: 1\r\nY: z\r\n\r\n"), hello),
        ("Chunked in capitals", post(b"transfer-encoding: Chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n"), hello),
        ("an absolute target", b"POST http://a/x?y HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello", hello),
        ("blanks around a value", post(b"X-Mark: \t mark \t\r\nContent-Length: 5\r\n", hello), hello),
        ("bytes above 127 in a value", post(b"X-Other: \xc3\xa9\xff\r\nContent-Length: 5\r\n", hello), hello),
        ("every byte in a body", post(b"Content-Length: 256\r\n", bytes(range(256))), bytes(range(256))),
        ("an answer for 100-continue", post(b"Expect: 100-continue\r\nContent-Length: 5\r\n", hello), hello),
    ]
    for name, data, body in good:
        with server.connect() as s:
            s.sendall(data + b"GET /after HTTP/1.1\r\n" + HOST + b"\r\n")
            reader = Reader(s)
            first, second = reader.response(), reader.response()
            checks.check(f"taken: {name}", (first[0], first[2]) == (200, body), f"{first[0]} {first[2][:60]!r}")
            checks.equal(f"the next request behind {name}", "/after", second[1].get("x-path"))
    status, headers, _ = server.ask(b"/a%2Fb%20c?d=e%20f&g", headers=b"X-MARK:  v \r\n")
    checks.equal("path as sent, without the query", (200, "/a%2Fb%20c", "v"),
                 (status, headers["x-path"], headers.get("x-mark")))
    with server.connect() as s:
        s.sendall(b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n" + b"HEAD /x HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT)
        reader = Reader(s)
        checks.equal("OPTIONS *", "*", reader.response()[1]["x-path"])
        checks.equal("HEAD has no body", "HEAD", reader.response(has_body=False)[1]["x-method"])
        checks.equal("the request behind HEAD", "/smuggled", reader.response()[1]["x-path"])
    for line, fields in [(b"HTTP/1.0", b""), (b"HTTP/1.1", HOST + b"Connection: close\r\n")]:
        for path, body in [(b"/health", b"ok"), (b"/stream/3", b"d" * 10 + b"c" * 10 + b"b" * 10)]:
            data, end = server.talk(b"GET " + path + b" " + line + b"\r\n" + fields + b"\r\n" + NEXT)
            whole = re.sub(rb"\r\n[0-9A-F]+\r\n(\r\n)?", b"", data)
            checks.check(f"{line.decode()} {path.decode()} ends by closing", end == "closed" and whole.endswith(body)
                         and b"smuggled" not in data, f"{data[-80:]!r} {end}")
    status, headers, body = server.ask(b"/never")
    checks.equal("a handler that does not answer", (500, "close"), (status, headers.get("connection")))
    with server.connect() as s:
        s.sendall(b"GET /abort HTTP/1.1\r\n" + HOST + b"\r\n")
        data, end = read_all(s)
        checks.check("an aborted stream has no proper end", end != "open" and b"0\r\n\r\n" not in data,
                     repr(data[-60:]))


def check_limits(checks, server):
    def head(target=b"/x", fields=b""):
        return b"GET " + target + b" HTTP/1.1\r\n" + HOST + fields + b"\r\n"

    around = len(b"GET  HTTP/1.1")
    many = b"".join(b"A%d: b\r\n" % i for i in range(99))
    cases = [("a request line of 65536 bytes", head(b"/" + b"a" * (65536 - around - 1)), 200),
             ("one byte more", head(b"/" + b"a" * (65536 - around)), 414),
             ("a request line without end", b"GET /" + b"a" * 400000, 414),
             ("a header line of 65536 bytes", head(fields=b"X: " + b"a" * 65533 + b"\r\n"), 200),
             ("one byte more of header", head(fields=b"X: " + b"a" * 65534 + b"\r\n"), 431),
             ("a header line without end", b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 400000, 431),
             ("100 headers", head(fields=many), 200), ("101 headers", head(fields=many + b"B: c\r\n"), 431),
             ("50000 headers", head(fields=b"A: b\r\n" * 50000), 431)]
    for name, data, code in cases:
        with server.connect() as s:
            try:
                s.sendall(data)
            except OSError:
                pass
            checks.equal(f"status for {name}", code, Reader(s).head()[0])
    checks.check("healthy after the limits", server.healthy())


def check_body_limit(checks, program):
    server = Server(program, body=1 << 20)
    whole, over = b"x" * (1 << 20), b"x" * ((1 << 20) + 1)
    status, _, body = server.ask(b"/e", b"POST", body=whole)
    checks.equal("a body of the limit", (200, len(whole)), (status, len(body)))
    status, headers, body = server.ask(b"/e", b"POST", body=over)
    checks.check("a longer one is refused naming the limit", status == 413 and b"1048576" in body
                 and headers.get("connection") == "close", f"{status} {body!r}")
    chunks = b"".join(b"10000\r\n" + b"x" * 65536 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
    data, end = server.talk(chunked(chunks) + NEXT)
    checks.check("chunks over the limit", statuses(data) == [413] and end != "open", f"{statuses(data)} {end}")
    with server.connect() as s:
        s.sendall(post(b"Expect: 100-continue\r\nContent-Length: 2000000\r\n", b""))
        checks.equal("a client that asks first is refused at once", 413, Reader(s).head()[0])
    with server.connect() as s:
        s.sendall(post(b"Expect: 100-continue\r\nContent-Length: 5\r\n", b""))
        reader = Reader(s)
        checks.equal("and told to go on within the limit", 100, reader.head()[0])
        s.sendall(b"hello")
        checks.equal("then answered", b"hello", reader.response()[2])
    data, end = server.talk(post(b"Content-Length: 99999999999\r\n", b"hello") + NEXT)
    checks.check("a huge length", statuses(data) == [413] and end != "open", f"{statuses(data)} {end}")
    with server.connect() as s:
        try:
            s.sendall(chunked(b""))
            for _ in range(100):
                s.sendall(b"100000\r\n" + b"x" * (1 << 20) + b"\r\n")
            end = "taken"
        except OSError:
            end = "cut off"
    checks.equal("an endless body", "cut off", end)
    checks.check("healthy after long bodies", server.healthy())
    checks.equal("ends well", 0, server.stop()[0])


def check_pace(checks, server):
    with server.connect() as s:
        s.sendall(b"".join(b"GET /%d HTTP/1.1\r\n%s\r\n" % (i, HOST) for i in range(200)))
        reader = Reader(s)
        paths = [reader.response()[1]["x-path"] for _ in range(200)]
        checks.equal("200 requests in one piece are answered in order", [f"/{i}" for i in range(200)], paths)
    with server.connect() as s:
        for byte in chunked(b"5\r\nhello\r\n0\r\n\r\n") + post(b"Content-Length: 5\r\n", b"world"):
            s.sendall(bytes([byte]))
            time.sleep(0.001)
        reader = Reader(s)
        checks.equal("requests that come byte by byte", [b"hello", b"world"], [reader.response()[2] for _ in range(2)])
    with server.connect() as s:
        start = time.monotonic()
        s.sendall(b"GET /stream/20 HTTP/1.1\r\n" + HOST + b"\r\n")
        reader = Reader(s)
        reader.head()
        times = [time.monotonic() - start]
        while reader.chunk():
            times.append(time.monotonic() - start)
        gaps = [b - a for a, b in zip(times, times[1:])]
        checks.check("pieces of a stream come one by one", len(gaps) == 20 and sorted(gaps)[2] > 0.01, str(gaps))
        checks.check("the head of a stream does not wait", times[0] < 0.5, str(times[0]))
    status, _, body = server.ask(b"/big/30000000")
    checks.equal("a reply of 30 MB", (200, 30000000), (status, len(body)))


def vanish(server, rng):
    """One client that resets at a random moment."""
    data = rng.choice([
        b"GET /stream/50 HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /flood HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /big/9000000 HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /wait HTTP/1.1\r\n" + HOST + b"\r\n",
        post(b"Content-Length: 300000\r\n", b"x" * 300000), chunked(b"10000\r\n" + b"x" * 65536 + b"\r\n0\r\n\r\n"),
        b"GET /slow/30 HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT])
    s = server.connect()
    s.settimeout(1)
    try:
        s.sendall(data[:rng.randrange(len(data) + 1)] if rng.random() < 0.4 else data)
        if rng.random() < 0.5:
            s.recv(rng.randrange(1, 100000)) if data.startswith((b"GET /s", b"GET /f", b"GET /b")) else None
        time.sleep(rng.random() * 0.03)
    except OSError:
        pass
    if rng.random() < 0.8:
        reset(s)
    else:
        s.close()


def check_lenient(checks, server):
    """What libmicrohttpd 0.9.75 takes though it should not, and cannot be told to refuse: a bare line feed for CRLF
    between chunks, anything in a chunk extension. Each is one request, answered once, and what follows is in step."""
    for name, chunks, body in [
            ("bare line feeds", b"5\nhello\n0\n\n", b"hello"),
            ("a bare line feed after a chunk", b"5\r\nhello\n0\r\n\r\n", b"hello"),
            ("a carriage return as the last byte", b"6\r\nhello\r\n0\r\n\r\n", b"hello\r"),
            ("control bytes in an extension", b"5;\1\2\r\nhello\r\n0\r\n\r\n", b"hello")]:
        with server.connect() as s:
            s.sendall(chunked(chunks) + b"GET /after HTTP/1.1\r\n" + HOST + b"\r\n")
            reader = Reader(s)
            first, second = reader.response(), reader.response()
            checks.equal(f"chunks with {name}", (200, body, "/after"), (first[0], first[2], second[1].get("x-path")))


def check_vanishing(checks, server, n):
    rng = random.Random(7)
    checks.check("healthy before", server.healthy())
    within(2, lambda: server.open_files() <= 12)
    files = server.open_files()
    threads = [threading.Thread(target=lambda r: [vanish(server, r) for _ in range(n // 8)],
                                args=(random.Random(rng.random()),)) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    checks.check(f"alive after {n} clients that vanished", server.healthy())
    checks.check("no stream is left behind", within(10, lambda: server.stats()["sources"] == 0), str(server.stats()))
    checks.check("no descriptor is left behind", within(10, lambda: server.open_files() <= files + 2),
                 f"{files} before, {server.open_files()} after")


def check_gone(checks, server):
    for how in ("close", "reset", "close behind unread bytes"):
        for path in (b"/wait", b"/quiet", b"/mute"):
            before = server.stats()["gone"]
            s = server.connect()
            s.sendall(b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"\r\n" + (NEXT if "unread" in how else b""))
            time.sleep(0.2)
            still = server.stats()["gone"] == before
            reset(s) if how == "reset" else s.close()
            noticed = within(1.0, lambda: server.stats()["gone"] == before + 1)
            checks.check(f"{path.decode()}: {how} is noticed within a second", still and noticed)


def median_ms(server, n):
    times = []
    with server.connect() as s:
        reader = Reader(s)
        for _ in range(n):
            start = time.perf_counter()
            s.sendall(b"POST /echo HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\n" + b"x" * 1000)
            reader.response()
            times.append((time.perf_counter() - start) * 1000)
    return sorted(times)[n // 2]


def check_crowd(checks, server, limits):
    alone = min(median_ms(server, 300) for _ in range(3))
    crowd = [server.connect() for _ in range(250)]
    for s in crowd[:50]:
        s.sendall(b"GET /flood HTTP/1.1\r\n" + HOST + b"\r\n")
    for s in crowd[50:150]:
        s.sendall(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n")
    time.sleep(1)
    loaded = min(median_ms(server, 300) for _ in range(3))
    print(f"a request alone {alone:.3f} ms, beside 200 idle and 50 stopped clients {loaded:.3f} ms")
    checks.check("a crowd that does nothing delays nobody", not limits or loaded < alone * 1.5 + 0.1,
                 f"{alone:.3f} ms alone, {loaded:.3f} ms beside them")
    readable = select.select(crowd[:50], [], [], 0)[0]
    checks.equal("all of the stopped readers were served", 50, len(readable))
    for s in crowd:
        s.close()
    checks.check("their streams are closed", within(10, lambda: server.stats()["sources"] == 0))


def check_connections(checks, program):
    server = Server(program, connections=4)
    kept = []
    for _ in range(4):
        s = server.connect()
        s.sendall(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n")
        Reader(s).response()
        kept.append(s)
    over = [server.connect() for _ in range(60)]
    answers = []
    for s in over:
        try:
            s.sendall(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n")
            status, headers, _ = Reader(s).response()
            answers.append((status, headers.get("retry-after"), headers.get("connection")))
        except (OSError, ValueError):
            answers.append("closed")
    refused = answers.count((503, "1", "close"))
    checks.check("over the limit: 503 with Retry-After, or closed", refused >= 8 and
                 refused + answers.count("closed") == 60, f"{refused} refused of {answers[:6]}")
    for s in over + kept[:1]:
        s.close()
    checks.check("room again once one has left", within(5, server.healthy))
    for s in kept:
        s.close()
    checks.equal("ends well", 0, server.stop()[0])


def check_times(checks, program):
    """Idle connections after 2 s, stalls after 1 s: each closes its own connection and nothing else."""
    server = Server(program, idle=2, stall=1)

    def closes(name, data, low, high, read=True):
        with server.connect(8) as s:
            s.sendall(data)
            start = time.monotonic()
            if read:
                read_all(s)
            else:
                within(2, lambda: server.stats()["sources"] == 1)
                within(8, lambda: server.stats()["sources"] == 0)
            took = time.monotonic() - start
            checks.check(f"{name} is closed in time", low < took < high, f"{took:.2f} s")

    cases = [("an idle connection", b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n", 1.5, 5),
             ("half a head", b"GET / HTTP/1.1\r\nHo", 0.5, 3.5), ("a silent connection", b"", 0.5, 3.5),
             ("half a body", post(b"Content-Length: 9\r\n", b"x"), 0.5, 3.5),
             ("half a chunk", chunked(b"9\r\nx"), 0.5, 3.5)]
    threads = [threading.Thread(target=closes, args=c) for c in cases]
    for t in threads:
        t.start()
    def drip():
        start = time.monotonic()
        with server.connect() as s:
            try:
                s.sendall(post(b"Content-Length: 1000\r\n", b""))
                while time.monotonic() - start < 15:
                    s.sendall(b"x")
                    time.sleep(0.3)
            except OSError:
                pass
        checks.check("a body that drips is cut off", 4 < time.monotonic() - start < 12)

    threads.append(threading.Thread(target=drip))
    threads[-1].start()
    late = server.ask(b"/late/2500")
    slow = server.ask(b"/slow/2500")
    for t in threads:
        t.join()
    checks.equal("a source that takes longer is no stall", (200, b"b" * 10), late[::2])
    checks.equal("a handler that takes longer is no stall", (200, b"slow"), slow[::2])
    closes("a reader that stopped", b"GET /flood HTTP/1.1\r\n" + HOST + b"\r\n", 0.5, 5, read=False)
    checks.equal("ends well", 0, server.stop()[0])


def check_stop(checks, program):
    server = Server(program, grace=5000)
    idle, busy = server.connect(), server.connect()
    stream = server.connect()
    busy.sendall(b"GET /slow/1200 HTTP/1.1\r\n" + HOST + b"\r\n")
    stream.sendall(b"GET /stream/40 HTTP/1.1\r\n" + HOST + b"\r\n")
    time.sleep(0.3)
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    try:
        server.connect(1).close()
        refused = False
    except OSError:
        refused = True
    checks.check("a stopping server accepts nobody", refused)
    status, headers, body = Reader(busy).response()
    checks.equal("a request in progress is answered", (200, "close", b"slow"),
                 (status, headers.get("connection"), body))
    checks.equal("a stream in progress ends properly", 400, len(Reader(stream).response()[2]))
    checks.equal("idle connections are closed", "closed", read_all(idle)[1])
    status, seconds, line = server.stop()
    checks.check("then it ends", status == 0 and line == "stopped: 0 sources open" and seconds < 3, f"{status} {line}")

    server = Server(program, grace=300)
    for path in (b"/wait", b"/quiet", b"/flood", b"/stream/1000"):
        s = server.connect()
        s.sendall(b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"\r\n")
        idle = s
    time.sleep(0.3)
    status, seconds, line = server.stop()
    checks.check("what outlasts the grace is cut off", (status, line) == (0, "stopped: 0 sources open") and seconds < 4,
                 f"{status} {line} {seconds:.2f} s")


def check_many_files(checks, program):
    """Client probes past descriptor 1023."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4096:
        checks.skip("descriptors past 1023", f"at most {hard} open files here")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    server = Server(program, connections=1500)
    crowd = [server.connect() for _ in range(1100)]
    s = server.connect()
    s.sendall(b"GET /wait HTTP/1.1\r\n" + HOST + b"\r\n")
    time.sleep(0.3)
    s.close()
    checks.check("beside 1100 connections a leaving client is noticed", within(2, lambda: server.stats()["gone"] == 1))
    for other in crowd:
        other.close()
    checks.equal("ends well", 0, server.stop()[0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def check_served(checks, binary, model):
    """The same malformed requests against `serve`: refused in the API's own form where our rules refuse them."""
    with Serving(binary, model) as served:
        server = Peer(served.port)
        check_malformed(checks, server)
        status, headers, body = server.ask(b"/v1/models", b"BREW")
        checks.equal("a refusal of serve is JSON", (501, "application/json", True),
                     (status, headers.get("content-type"), b'"error"' in body))
        checks.equal("serve ends well", 0, served.stop()[0])


def main():
    arguments = parse_arguments(__doc__)
    program = os.path.join(os.path.dirname(arguments.binary), "tests", "http", "echo_server")
    checks, limits = Checks(), not arguments.no_time_limits
    server = Server(program)
    check_malformed(checks, server)
    check_well_formed(checks, server)
    check_lenient(checks, server)
    check_limits(checks, server)
    check_pace(checks, server)
    check_vanishing(checks, server, 2000 if arguments.full else 200)
    check_gone(checks, server)
    check_crowd(checks, server, limits)
    status, _, line = server.stop()
    checks.equal("the server ends well", (0, "stopped: 0 sources open"), (status, line))
    check_body_limit(checks, program)
    check_connections(checks, program)
    check_times(checks, program)
    check_stop(checks, program)
    check_many_files(checks, program)
    check_served(checks, arguments.binary, arguments.model)
    checks.close()


if __name__ == "__main__":
    main()
