"""What every tests/*/check_*.py shares: the arguments that `make check` passes, counted checks, the closing line."""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def parse_arguments(description, extend=None):
    """The convention of CONTRIBUTING.md. `extend` may add options of one script to the parser."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--binary", required=True, help="the tensorfold binary under test")
    parser.add_argument("--tests", required=True, help="the repository's tests folder")
    parser.add_argument("--model", help="the default model, SmolLM2-135M-Instruct as Q4_1 GGUF")
    parser.add_argument("--full", action="store_true", help="the long form, for make check-full")
    parser.add_argument("--no-time-limits", action="store_true", help="sanitizer builds are slow: judge no seconds")
    if extend:
        extend(parser)
    return parser.parse_args()


class Checks:
    """Counts what passed and failed; a failure prints its name with what was expected and what came."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}{': ' if detail else ''}{detail}", flush=True)
        return ok

    def equal(self, name, expected, got):
        return self.check(name, expected == got, f"expected {shorten(expected)}, got {shorten(got)}")

    def skip(self, name, reason):
        self.skipped += 1
        print(f"skip {name}: {reason}", flush=True)

    def close(self):
        """Prints the closing line and ends the script."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}", flush=True)
        sys.exit(1 if self.failed else 0)


def shorten(value, limit=300):
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


class CommandFailed(Exception):
    """The binary ended with another status than 0; the text holds its status and its message."""


def run(binary, *arguments, stdin=None):
    """Runs one command of the binary and gives its stdout as bytes."""
    command = [binary, *map(str, arguments)]
    result = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode:
        message = result.stderr.decode("utf-8", "replace").strip()
        raise CommandFailed(f"{' '.join(command[1:3])}: status {result.returncode}: {message}")
    return result.stdout


def generate(binary, model, ids, max_tokens, *options):
    """`generate` at temperature 0; gives the printed JSON."""
    with ids_file(ids) as path:
        return json.loads(run(binary, "generate", model, "--ids", "@" + path, "--max-tokens", max_tokens,
                              "--temperature", 0, "--json", *options))


def logits(binary, model, ids, positions, *options):
    """`logits` as a float32 array [len(positions), vocabulary]."""
    return logits_and_state(binary, model, ids, positions, *options)[0]


def logits_and_state(binary, model, ids, positions, *options):
    """The same, and what --state-sha printed where the options hold it."""
    import numpy
    with ids_file(ids) as path, tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "logits.npy")
        text = run(binary, "logits", model, "--ids", "@" + path, "--positions", ",".join(map(str, positions)),
                   "--npy", out, *options)
        rows = numpy.load(out)
    if rows.dtype != numpy.float32 or rows.ndim != 2 or rows.shape[0] != len(positions):
        raise CommandFailed(f"logits: {rows.dtype} {rows.shape} instead of float32 [{len(positions)}, vocabulary]")
    return rows, json.loads(text)["state_sha"] if text else None


class ids_file:
    """A temporary file that holds a JSON list of ids, for --ids @FILE."""

    def __init__(self, ids):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(list(map(int, ids)), self.file)
        self.file.flush()

    def __enter__(self):
        return self.file.name

    def __exit__(self, *_):
        self.file.close()
