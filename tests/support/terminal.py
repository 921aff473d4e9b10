"""A program on a pseudo terminal: send keys, wait for text."""
import codecs
import os
import pty
import select
import time


class Terminal:
    """`seen` is what came since the last match, `all` everything."""

    def __init__(self, command, env):
        self.seen = self.all = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, dict(env, TERM="xterm", LC_ALL="C"))

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other side is closed
            return False
        text = self.decoder.decode(data)
        self.seen += text
        self.all += text
        return bool(data)

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def expect(self, text, seconds=60):
        """Waits for `text`; what came before it, and it, are then no longer `seen`."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            if left <= 0 or not self.read(left) and text not in self.seen:
                return False
        self.seen = self.seen.partition(text)[2]
        return True

    def wait(self, seconds=60):
        """The exit status; None when it does not end in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        return None
