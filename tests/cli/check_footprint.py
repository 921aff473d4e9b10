"""Memory of a running model against its weights, and the time from start to the first token (judged with --full)."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks

CONTEXT = 256          # small, so that the planned cache hides nothing
WEIGHTS_SHARE = 1.15
SLACK_BYTES = 32 << 20
FIRST_TOKEN_S = 0.25
RUNS = 7


def reply(binary, model):
    """Runs one short reply; gives its peak memory in bytes and the seconds from start to the first token."""
    command = [binary, "run", model, "Hi", "--stats", "--max-tokens", "16", "--context", str(CONTEXT)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    found = re.search(r"\(([0-9.]+) s from start\)", message)
    if process.returncode or not found:
        raise checks.CommandFailed(f"run: status {process.returncode}: {message.strip()}")
    return usage.ru_maxrss * 1024, float(found.group(1))


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    try:
        planned = json.loads(checks.run(arguments.binary, "info", arguments.model, "--json", "--context", CONTEXT))
        runs = [reply(arguments.binary, arguments.model) for _ in range(RUNS if arguments.full else 1)]
        allowed = WEIGHTS_SHARE * planned["packed_bytes"] + planned["cache_bytes"] + SLACK_BYTES
        peak = max(memory for memory, _ in runs)
        if arguments.no_time_limits:
            c.skip("memory and start", "a sanitizer build needs its own")
            c.close()
        c.check("memory", peak <= allowed, f"{peak / 1e6:.1f} MB at its peak, at most {allowed / 1e6:.1f} MB allowed")
        print(f"memory: {peak / 1e6:.1f} MB at its peak, {allowed / 1e6:.1f} MB allowed")
        start = min(seconds for _, seconds in runs)
        print(f"start to first token: {start:.3f} s at best of {len(runs)}")
        if arguments.full:
            c.check("start to first token", start < FIRST_TOKEN_S, f"{start:.3f} s, under {FIRST_TOKEN_S} s expected")
    except checks.CommandFailed as failure:
        c.check("command", False, str(failure))
    c.close()


main()
