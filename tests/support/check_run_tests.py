"""The runner that sums tests: closing lines add up; what fails, crashes or says nothing never counts as passed."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import checks

KCHECK = "SUMMARY 4 kernels: {} pass, {} fail; 6 controls: {} red as planted, {} missed; {} limit problems"
CASES = [
    ("sums closing lines", ["echo '2 passed, 0 failed'", "echo '3 passed, 0 failed'"], 0, "5 passed, 0 failed"),
    ("counts failures", ["echo '2 passed, 1 failed'; false"], 1, "2 passed, 1 failed"),
    ("keeps skipped cases apart", ["echo '2 passed, 0 failed, 4 skipped'"], 0, "2 passed, 0 failed, 4 skipped"),
    ("a silent program failed", ["true", "echo '1 passed, 0 failed'"], 1, "1 passed, 1 failed"),
    ("a crash after the closing line failed", ["echo '1 passed, 0 failed'; exit 3"], 1, "1 passed, 1 failed"),
    ("counts only the last closing line", ["echo '9 passed, 0 failed'; echo '1 passed, 0 failed'"], 0,
     "1 passed, 0 failed"),
    ("reads kcheck's summary", [f"echo '{KCHECK.format(4, 0, 6, 0, 0)}'"], 0, "10 passed, 0 failed"),
    ("a missed fault failed", [f"echo '{KCHECK.format(4, 0, 5, 1, 0)}'"], 1, "9 passed, 1 failed"),
    ("a failed kernel and a limit failed", [f"echo '{KCHECK.format(3, 1, 6, 0, 2)}'"], 1, "9 passed, 3 failed"),
]


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    tool = os.path.join(arguments.tests, "..", "tools", "run_tests")
    for name, commands, code, line in CASES:
        result = subprocess.run([tool, *commands], stdout=subprocess.PIPE, text=True, check=False)
        c.equal(name, (code, line), (result.returncode, result.stdout.strip().splitlines()[-1]))
    c.close()


main()
