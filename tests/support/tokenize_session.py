"""One `tokenize --jsonl` that stays open, so that a line's time holds neither start nor loading."""
import json
import subprocess
import time

import checks


class Session:
    def __init__(self, binary, model):
        self.process = subprocess.Popen([binary, "tokenize", model, "--jsonl"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.clock = ~self.process.pid << 3 | 2  # the processor time of that process, as clock_getcpuclockid has it
        self.ask("")

    def ask(self, text):
        """Processor time of one answer, reading and writing JSON included, and its ids."""
        line = json.dumps(text).encode() + b"\n"
        before = time.clock_gettime(self.clock)
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        seconds = time.clock_gettime(self.clock) - before
        if not answer:
            raise checks.CommandFailed(f"tokenize ended with status {self.process.wait()}")
        return seconds, json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()
