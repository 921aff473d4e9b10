"""Second tier: the checked-in Unicode tables are, byte for byte, what tools/gen_unicode writes."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    root = os.path.join(arguments.tests, "..")
    made = subprocess.run([sys.executable, os.path.join(root, "tools", "gen_unicode")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    c.check("gen_unicode runs", made.returncode == 0, made.stderr.decode().strip())
    with open(os.path.join(root, "src", "text", "unicode_tables.c"), "rb") as f:
        stored = f.read()
    c.check("the tables are as generated", made.stdout == stored, f"{len(made.stdout)} and {len(stored)} bytes")
    c.close()


main()
