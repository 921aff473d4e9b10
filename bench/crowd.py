"""What a crowd of idle and slowly reading clients costs one reply of `serve`.

bench/crowd.py --binary build/tensorfold --model MODEL [--threads N] [--rounds N]

Replies are timed alone and beside 200 idle connections and 50 readers that take 5 bytes a second of streams which have
ended long ago. Their tokens are compared first; the ratio of the medians should stay under 1.05. The server runs on the
first processors, the clients on the others: with too few of them, the clients' own work is measured too."""
import argparse
import json
import os
import socket
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))
from serving import Serving  # noqa: E402

IDLE, READERS, TOKENS, REPLIES = 200, 50, 128, 3
HOST = "127.0.0.1"


def completion(prompt, tokens, **more):
    return json.dumps({"prompt": prompt, "max_tokens": tokens, "ignore_eos": True, **more}).encode()


def start(binary, model, threads):
    """The server on the first processors, this process on the others."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, processors[:threads])
    server = Serving(binary, model, "--threads", threads)
    os.sched_setaffinity(0, processors[threads:] or processors)
    return server


def connect(server, receive_bytes=None):
    s = socket.socket()
    if receive_bytes:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    s.connect((HOST, server.port))
    return s


class Crowd:
    def __init__(self, server):
        self.idle = [connect(server) for _ in range(IDLE)]
        body = completion("Hello there, my friend, tell me", 8, stream=True)
        head = f"POST /v1/completions HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        self.readers = [connect(server, 2048) for _ in range(READERS)]
        for s in self.readers:
            s.sendall(head + body)
        while (health := server.health())["requests_running"] or health["requests_waiting"]:
            time.sleep(0.05)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.drip)
        self.thread.start()

    def drip(self):
        while not self.over.wait(0.2):
            for s in self.readers:
                s.recv(1)

    def leave(self):
        self.over.set()
        self.thread.join()
        for s in self.idle + self.readers:
            s.close()


def timed(server, shas):
    begin = time.perf_counter()
    answer = server.post("/v1/completions", completion("Once upon a time", TOKENS))[1]
    shas.add(answer["tensorfold"]["token_sha"])
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    a = parser.parse_args()
    server, alone, beside, shas = start(a.binary, a.model, a.threads), [], [], set()
    timed(server, shas)
    for _ in range(a.rounds):
        alone += [timed(server, shas) for _ in range(REPLIES)]
        crowd = Crowd(server)
        beside += [timed(server, shas) for _ in range(REPLIES)]
        crowd.leave()
    server.stop()
    if len(shas) != 1:
        raise SystemExit(f"the replies differ: {sorted(shas)}")
    for name, values in (("alone", alone), ("beside the crowd", beside)):
        print(f"{name}: median {statistics.median(values):.3f} s, {min(values):.3f} to {max(values):.3f}")
    print(f"ratio of medians {statistics.median(beside) / statistics.median(alone):.3f}, "
          f"of minima {min(beside) / min(alone):.3f}; token_sha {shas.pop()}")


main()
