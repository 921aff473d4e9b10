"""Downloads the wheel of a PyPI package through pip's own index and session, going on where a broken download ended.

`pip download` throws a partial file away when it is interrupted; this keeps it as OUT.partial and asks for the rest.
It uses pip's internals, so it runs in the private environment of tools/fetch_python, whose pip is pinned.
"""
import os
import sys
import time

from pip._internal.commands import create_command
from pip._internal.exceptions import PipError
from pip._vendor.packaging.specifiers import SpecifierSet
from pip._vendor.requests.exceptions import RequestException
from pip._vendor.urllib3.exceptions import HTTPError

ATTEMPTS = 8
CHUNK = 1 << 18


class Progress:
    """A bar that redraws itself on a terminal, a line every quarter elsewhere."""

    def __init__(self, name, total):
        self.name, self.total, self.terminal = name, total, sys.stdout.isatty()
        self.drawn = -1.0

    def show(self, done):
        share = done / self.total if self.total else 0.0
        step = 0.005 if self.terminal else 0.25
        if share < 1.0 and share < self.drawn + step or share == self.drawn:
            return
        self.drawn = share
        figures = f"{done / 1e6:.0f} of {self.total / 1e6:.0f} MB"
        if self.terminal:
            bar = "#" * int(share * 40)
            print(f"\r  [{bar:<40}] {figures}", end="\n" if share >= 1.0 else "", flush=True)
        else:
            print(f"  {self.name}: {figures}", flush=True)


def find_link(command, options, session, package, version):
    finder = command._build_package_finder(options, session)
    best = finder.find_best_candidate(package, SpecifierSet(f"=={version}")).best_candidate
    if best is None:
        sys.exit(f"fetch_wheel: the package index does not offer {package} {version}")
    return best.link


def fetch_rest(session, link, partial):
    """Appends what is missing to the partial file; True when it is whole."""
    have = os.path.getsize(partial) if os.path.exists(partial) else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    response = session.get(link.url_without_fragment, headers=headers, stream=True)
    if response.status_code == 416:  # nothing is left to send, or the partial file is of something else
        return True
    response.raise_for_status()
    if response.status_code != 206:
        have = 0
    total = have + int(response.headers.get("content-length", 0))
    if have:
        print(f"  going on at {have / 1e6:.0f} MB", flush=True)
    progress = Progress(link.filename, total)
    with open(partial, "r+b" if have else "wb") as out:
        out.seek(have)
        for chunk in response.raw.stream(CHUNK, decode_content=False):
            out.write(chunk)
            have += len(chunk)
            progress.show(have)
    return not total or have >= total


def fetch(package, version, out):
    command = create_command("download")
    options, _ = command.parse_args(["--no-deps", "--disable-pip-version-check", f"{package}=={version}"])
    partial = out + ".partial"
    with command.main_context():
        session = command.get_default_session(options)
        link = find_link(command, options, session, package, version)
        for attempt in range(ATTEMPTS):
            try:
                if fetch_rest(session, link, partial):
                    os.replace(partial, out)
                    return
                reason = "the connection ended early"
            except (RequestException, HTTPError, PipError, OSError) as failure:
                reason = str(failure)
            print(f"\n  broken off: {reason}; trying again", flush=True)
            time.sleep(min(2 ** attempt, 15))
    sys.exit(1)


if __name__ == "__main__":
    try:
        if not os.path.exists(sys.argv[3]):
            fetch(*sys.argv[1:4])
    except KeyboardInterrupt:
        sys.exit(130)
    except PipError as problem:
        sys.exit(f"fetch_wheel: {problem}")
