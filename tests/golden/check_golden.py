"""Golden folders of a public implementation: logits within 1e-3 at every stored position, greedy ids equal."""
import glob
import json
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks

LOGITS_BOUND = 1e-3


def check_folder(c, binary, folder):
    name = os.path.basename(folder)
    with open(os.path.join(folder, "ref.json"), encoding="utf-8") as f:
        ref = json.load(f)
    expected = numpy.load(os.path.join(folder, "ref_logits.npy"))
    try:
        got = checks.logits(binary, folder, ref["prompt"], ref["positions"])
        if c.equal(f"{name}: shape of the logits", expected.shape, got.shape):
            worst = float(numpy.abs(got - expected).max())
            c.check(f"{name}: logits", worst <= LOGITS_BOUND, f"{worst:.2e} off, at most {LOGITS_BOUND} allowed")
        reply = checks.generate(binary, folder, ref["prompt"], len(ref["greedy"]))
        c.equal(f"{name}: greedy ids", ref["greedy"], reply["ids"])
    except checks.CommandFailed as failure:
        c.check(name, False, str(failure))


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    folders = sorted(map(os.path.dirname, glob.glob(os.path.join(arguments.tests, "golden", "*", "ref.json"))))
    c.check("golden folders are there", len(folders) >= 2, f"found {folders}")
    for folder in folders:
        check_folder(c, arguments.binary, folder)
    c.close()


main()
