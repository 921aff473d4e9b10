"""The wheel download goes on where it broke off: a local index that cuts every answer short, and a partial file."""
import hashlib
import http.server
import os
import random
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks

WHEEL = "tiny_thing-1.0-py3-none-any.whl"
CONTENT = random.Random(1).randbytes(600_000)
CUT = 250_000  # bytes after which the server hangs up


class Index(http.server.BaseHTTPRequestHandler):
    """A package index of one wheel that answers ranges and hangs up early."""
    ranges = []

    def do_GET(self):
        if self.path.startswith("/simple/"):
            digest = hashlib.sha256(CONTENT).hexdigest()
            body = f'<html><body><a href="/files/{WHEEL}#sha256={digest}">{WHEEL}</a></body></html>'.encode()
            self.answer(200, body, "text/html")
            return
        asked = self.headers.get("Range")
        self.ranges.append(asked)
        begin = int(asked[len("bytes="):-1]) if asked else 0
        self.answer(206 if asked else 200, CONTENT[begin:], "application/octet-stream", CUT)

    def answer(self, status, body, kind, cut=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cut])
        self.close_connection = True

    def log_message(self, *_):
        pass


def fetch(root, port, out):
    environment = dict(os.environ, PIP_INDEX_URL=f"http://127.0.0.1:{port}/simple/", PIP_NO_CACHE_DIR="1")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        environment.pop(name, None)
    python = subprocess.check_output([os.path.join(root, "tools", "fetch_python")], text=True).strip()
    command = [python, os.path.join(root, "tools", "fetch_wheel.py"), "tiny-thing", "1.0", out]
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    return result.returncode, result.stdout


def same(path):
    if not os.path.exists(path):
        return False
    with open(path, "rb") as f:
        return f.read() == CONTENT


def main():
    arguments = checks.parse_arguments(__doc__)
    root = os.path.abspath(os.path.join(arguments.tests, ".."))
    c = checks.Checks()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.whl")
        code, messages = fetch(root, server.server_port, out)
        c.check("a connection that breaks twice", code == 0 and same(out), messages)
        c.equal("asks for the rest only", [None, f"bytes={CUT}-", f"bytes={2 * CUT}-"], Index.ranges)
        c.check("leaves no partial file", os.listdir(folder) == ["out.whl"], os.listdir(folder))
        os.remove(out)
        Index.ranges.clear()
        with open(out + ".partial", "wb") as f:
            f.write(CONTENT[:400_000])
        code, messages = fetch(root, server.server_port, out)
        c.check("an earlier run that was killed", code == 0 and same(out), messages)
        c.equal("asks for what the killed run lacked", ["bytes=400000-"], Index.ranges)
        Index.ranges.clear()
        code, messages = fetch(root, server.server_port, out)
        c.check("a finished download asks for nothing", code == 0 and not Index.ranges, messages)
    server.shutdown()
    c.close()


main()
