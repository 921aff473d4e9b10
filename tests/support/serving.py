"""A `tensorfold serve` process for tests, and plain HTTP requests to it."""
import http.client
import json
import re
import signal
import subprocess
import tempfile


class Serving:
    """Starts `serve` on a free port and waits for its line."""

    def __init__(self, binary, *arguments):
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # a pipe that nobody reads could fill
        self.process = subprocess.Popen([binary, "serve", *map(str, arguments), "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/v1", self.line)
        if not found:
            raise RuntimeError(f"serve did not start: {self.line!r} {self.stop()[1]!r}")
        self.port = int(found.group(1))
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def request(self, method, path, body=None, headers=None, timeout=120):
        """One request on a connection of its own: (status, headers, body as bytes)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def post(self, path, value, headers=None):
        """A JSON body, or bytes as they are; the answer's status and its JSON."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        status, _, answer = self.request("POST", path, body, headers)
        return status, json.loads(answer)

    def health(self):
        return json.loads(self.request("GET", "/health")[2])

    def stop(self, how=signal.SIGTERM, timeout=60):
        """Ends it; (status, what it said on standard error)."""
        self.process.send_signal(how)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
        return self.process.wait(), self.said()

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
