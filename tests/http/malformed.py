"""Requests that break the rules of HTTP/1.1 framing: none may be answered with success, nor what follows it."""
from support.raw_http import HOST, chunked, post


def get(line, fields=HOST):
    return line + b"\r\n" + fields + b"\r\n"


LINES = [
    b"GET", b"GET /", b"GET  / HTTP/1.1", b"GET / HTTP/1.1 ", b"GET /  HTTP/1.1", b" GET / HTTP/1.1",
    b"GET\t/\tHTTP/1.1", b"GET /a b HTTP/1.1", b"GET / http/1.1", b"GET / HTTP/1.1x", b"GET / HTTP/1", b"GET / HTTP/11",
    b"GET / HTTP/1.2", b"GET / HTTP/2.0", b"GET / HTTP/3", b"GET / HTTP/0.9", b"GET / XTTP/1.1", b"PRI * HTTP/2.0",
    b"get / HTTP/1.1", b"BREW / HTTP/1.1", b"TRACE / HTTP/1.1", b"CONNECT a:80 HTTP/1.1", b"G(T / HTTP/1.1",
    b"G\xc3\x84T / HTTP/1.1", b"GET a HTTP/1.1", b"GET * HTTP/1.1", b"GET ftp://a/ HTTP/1.1", b"GET http: HTTP/1.1",
    b"GET /\x01 HTTP/1.1", b"GET /\x7f HTTP/1.1", b"GET /\xff HTTP/1.1", b"GET /\0 HTTP/1.1", b"GET /#a HTTP/1.1",
    b"GET /?\0 HTTP/1.1", b"GET /?a=\x02 HTTP/1.1", b"GET /\0?a HTTP/1.1", b"\0GET / HTTP/1.1", b"HTTP/1.1 200 OK",
    b"GET / HTTP/1.1\rX: y", b"GET / HTTP/1.1\0",
]
FIELDS = [
    b"", b"X: y\r\n", HOST + HOST, HOST + b"X\r\n", HOST + b": y\r\n", HOST + b"X : y\r\n", HOST + b"X\t: y\r\n",
    HOST + b" X: y\r\n", b" " + HOST, HOST + b"X: y\r\n z\r\n", HOST + b"X: y\r\n\tz: w\r\n", HOST + b"X: y\0z\r\n",
    HOST + b"X\0: y\r\n", HOST + b"X: \x01\r\n", HOST + b"X: \x7f\r\n", HOST + b"X: a\rb\r\n", HOST + b"X\xe9: y\r\n",
    HOST + b"X(: y\r\n", HOST + b"X@Y: z\r\n", HOST + b'"X": y\r\n', HOST + b"X: y\n", HOST + b"X: y\n\n",
    HOST + b"X: y\nZz: w\r\n",
    HOST + b"Expect: 200-ok\r\n",
]
LENGTHS = [
    b"-1", b"+5", b"0x5", b"5 5", b"5,5", b"5;", b"", b"five", b"5.0", b"1e1", b"18446744073709551616", b"9" * 40,
    b"5\0", b"\xb2", b"5\r\n 5", b"5\r\nContent-Length: 6", b"5\r\nContent-Length: 5", b"5\r\ncontent-length: 0",
]
FRAMINGS = [
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n", b"Content-Length: 0\r\ntransfer-encoding: CHUNKED\r\n",
    b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding:\r\n chunked\r\n", b"Transfer-Encoding: chunked\r\n x\r\n",
    b"Transfer-Encoding: chunked\0\r\n", b"Transfer-Encoding: \x0bchunked\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
]
CODINGS = [
    b"gzip", b"identity", b"gzip, chunked", b"chunked, gzip", b"chunked, chunked", b"chunked;q=1", b"xchunked", b"",
    b'"chunked"', b"chunked,",
]
SIZES = [
    b"", b"g", b"-5", b"+5", b"0x5", b"5 ", b" 5", b"5h", b"F" * 17, b"1" + b"0" * 16, b"5\0", b"5\t;a", b";a", b"\xff",
]


def malformed():
    """(name, bytes) of each."""
    for line in LINES:
        yield f"request line {line!r}", get(line)
    for fields in FIELDS:
        yield f"fields {fields!r}", get(b"GET / HTTP/1.1", fields)
    yield "bare line feeds", b"GET / HTTP/1.1\nHost: a\n\n"
    yield "a bare line feed at the header's end", b"GET / HTTP/1.1\r\n" + HOST + b"\n"
    for n in LENGTHS:
        yield f"length {n!r}", post(b"Content-Length: " + n + b"\r\n", b"hello")
    for framing in FRAMINGS + [b"Transfer-Encoding: " + c + b"\r\n" for c in CODINGS]:
        yield f"framing {framing!r}", post(framing, b"5\r\nhello\r\n0\r\n\r\n")
    yield "chunked over HTTP/1.0", (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n"
                                    b"5\r\nhello\r\n0\r\n\r\n")
    for size in SIZES:
        yield f"chunk size {size!r}", chunked(size + b"\r\nhello\r\n0\r\n\r\n")
    yield "a chunk longer than its size", chunked(b"4\r\nhello\r\n0\r\n\r\n")
    yield "a chunk shorter than its size", chunked(b"8\r\nhello\r\n0\r\n\r\n")
    yield "a trailer without a colon", chunked(b"5\r\nhello\r\n0\r\nX\r\n\r\n")
    yield "an endless chunk extension", chunked(b"5;" + b"a" * 400000 + b"\r\nhello\r\n0\r\n\r\n")
    yield "an endless trailer", chunked(b"0\r\n" + b"X: " + b"a" * 400000 + b"\r\n\r\n")
    yield "endless trailers", chunked(b"0\r\n" + b"X: y\r\n" * 60000 + b"\r\n")
