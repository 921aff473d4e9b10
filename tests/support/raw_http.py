"""Raw HTTP over sockets: a server process, a strict reader of responses, clients that vanish."""
import atexit
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time

HOST = b"Host: a\r\n"
NEXT = b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n"


class Peer:
    """A server on a local port."""

    def __init__(self, port):
        self.port = port

    def connect(self, timeout=10.0):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def talk(self, data, timeout=10.0, shut=False):
        """Sends bytes, reads until the server closes: (bytes, "closed" | "open" | "reset")."""
        with self.connect(timeout) as s:
            try:
                s.sendall(data)
                if shut:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return read_all(s)

    def ask(self, path, method=b"GET", headers=b"", body=b""):
        """One request on a new connection: (status, headers, body)."""
        length = b"Content-Length: %d\r\n" % len(body) if body else b""
        with self.connect() as s:
            s.sendall(method + b" " + path + b" HTTP/1.1\r\n" + HOST + headers + length + b"\r\n" + body)
            return Reader(s).response()

    def healthy(self):
        try:
            return self.ask(b"/health")[0] == 200
        except (OSError, ValueError):
            return False


class Server(Peer):
    """The echo server as a process of its own."""

    def __init__(self, program, connections=0, body=0, idle=0, stall=0, grace=0):
        command = [program, *map(str, (connections, body, idle, stall, grace))]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        super().__init__(int(self.process.stdout.readline()))

    def stats(self):
        return json.loads(self.ask(b"/stats")[2])

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        """SIGTERM, then (exit status, seconds it took, last line)."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            line = self.process.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            line = self.process.communicate()[0]
        return self.process.returncode, time.monotonic() - start, line.strip()


class Reader:
    """Reads responses off a socket, strictly."""

    def __init__(self, s):
        self.file = s.makefile("rb")

    def line(self):
        line = self.file.readline(70000)
        if not line.endswith(b"\r\n"):
            raise ValueError(f"a line ends early: {line[:80]!r}")
        return line[:-2]

    def exactly(self, n):
        data = self.file.read(n)
        if len(data) != n:
            raise ValueError(f"{len(data)} bytes of {n}")
        return data

    def head(self):
        version, status, _ = self.line().split(b" ", 2)
        if version != b"HTTP/1.1":
            raise ValueError(f"version {version!r}")
        headers = {}
        while line := self.line():
            name, value = line.split(b": ", 1)
            headers[name.lower().decode()] = value.decode()
        return int(status), headers

    def chunk(self):
        data = self.exactly(int(self.line(), 16))
        if self.line():
            raise ValueError("a chunk is longer than it says")
        return data

    def response(self, has_body=True):
        status, headers = self.head()
        while status == 100:
            status, headers = self.head()
        if not has_body:
            return status, headers, b""
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while data := self.chunk():
                body += data
        elif "content-length" in headers:
            body = self.exactly(int(headers["content-length"]))
        else:
            body = self.file.read()
        return status, headers, body


def read_all(s):
    data = b""
    try:
        while more := s.recv(1 << 16):
            data += more
        return data, "closed"
    except (socket.timeout, TimeoutError):
        return data, "open"
    except OSError:
        return data, "reset"


def reset(s):
    """Closes so that the other side gets a RST."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def within(seconds, condition):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def statuses(data):
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) ", data)]


def post(framing, body):
    return b"POST /echo HTTP/1.1\r\n" + HOST + framing + b"\r\n" + body


def chunked(body, more=b""):
    return post(b"Transfer-Encoding: chunked\r\n" + more, body)
