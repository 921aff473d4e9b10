"""jinja2 set up as Hugging Face's transformers does it, and the engine under test behind its render program."""
import datetime
import json
import subprocess

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 3, 7, 9, 5, 2)


def seconds_since_1970(time):
    """Of a time without a zone, as if it were UTC."""
    return int((time - datetime.datetime(1970, 1, 1)).total_seconds())


class Generation(Extension):
    """`generation` blocks only mark text for training; they are rendered through."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise TemplateError(message)


class Jinja2:
    """`now` is the time that strftime_now tells."""

    def __init__(self, now=NOW):
        self.environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                         extensions=[Generation, loopcontrols])
        self.environment.filters["tojson"] = tojson
        self.environment.globals["raise_exception"] = raise_exception
        self.environment.globals["strftime_now"] = now.strftime
        self.compiled = {}

    def render(self, template, context):
        """(text, None), or (None, the exception)."""
        try:
            if template not in self.compiled:
                self.compiled[template] = self.environment.from_string(template)
            return self.compiled[template].render(**context), None
        except Exception as error:  # whatever jinja2 and Python raise is an answer to compare with
            return None, error


class Program:
    """A program that answers a JSON request a line with a JSON answer a line."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} died of {request!r}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


class Engine(Program):
    """The template engine behind render.c."""

    def render(self, template, context, marked=False):
        """{"text", "pieces"} or {"error"}."""
        return self.ask({"template": template, "context": context, "now": seconds_since_1970(NOW), "marked": marked})
