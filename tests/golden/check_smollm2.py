"""SmolLM2 on real text against stored references: ids, largest logits, log-sum-exp, greedy ids."""
import json
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks

WORST_BOUND = 0.02   # any listed logit or log-sum-exp
MEAN_BOUND = 0.003   # mean over a case's listed logits
SANITIZED = (2, 8)   # cases and greedy ids of a sanitizer build: the shortest, which take all ways through the code
MARGIN_BOUND = 0.04  # greedy ids count up to the first step whose two best logits lie closer than this


def log_sum_exp(row):
    wide = row.astype(numpy.float64)
    top = wide.max()
    return top + numpy.log(numpy.exp(wide - top).sum())


def check_tokens(c, binary, model, cases):
    lines = "".join(json.dumps(case["text"]) + "\n" for case in cases)
    printed = checks.run(binary, "tokenize", model, "--jsonl", stdin=lines.encode())
    got = [json.loads(line) for line in printed.splitlines()]
    c.equal("tokenize: lines", len(cases), len(got))
    for i, (case, ids) in enumerate(zip(cases, got)):
        c.equal(f"case {i}: ids of the text", case["prompt"], ids)


def check_logits(c, name, binary, model, case):
    rows = case["rows"]
    got = checks.logits(binary, model, case["prompt"], [row["pos"] for row in rows])
    errors = numpy.abs([got[i, row["ids"]] - row["values"] for i, row in enumerate(rows)])
    lse_worst = max(abs(log_sum_exp(got[i]) - row["lse"]) for i, row in enumerate(rows))
    c.check(f"{name}: logits", errors.max() <= WORST_BOUND, f"{errors.max():.4f} off, at most {WORST_BOUND} allowed")
    c.check(f"{name}: mean of logits", errors.mean() <= MEAN_BOUND,
            f"{errors.mean():.5f} off, at most {MEAN_BOUND} allowed")
    c.check(f"{name}: log-sum-exp", lse_worst <= WORST_BOUND, f"{lse_worst:.4f} off, at most {WORST_BOUND} allowed")


def check_greedy(c, name, binary, model, case, most):
    greedy, sure = case["greedy"][:most], 0
    while sure < len(greedy) and case["greedy_margin"][sure] >= MARGIN_BOUND:
        sure += 1
    reply = checks.generate(binary, model, case["prompt"], len(greedy))
    c.equal(f"{name}: count of greedy ids", len(greedy), len(reply["ids"]))
    c.equal(f"{name}: first {sure} greedy ids", greedy[:sure], reply["ids"][:sure])


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    if not c.check("the default model is there", arguments.model and os.path.exists(arguments.model), arguments.model):
        c.close()
    with open(os.path.join(arguments.tests, "golden", "smollm2.json"), encoding="utf-8") as f:
        cases = json.load(f)["cases"]
    try:
        check_tokens(c, arguments.binary, arguments.model, cases)
        most = None
        if arguments.no_time_limits:
            some, most = SANITIZED
            cases = sorted(cases, key=lambda case: len(case["prompt"]))[:some]
        for i, case in enumerate(cases):
            check_logits(c, f"case {i}", arguments.binary, arguments.model, case)
            check_greedy(c, f"case {i}", arguments.binary, arguments.model, case, most)
    except checks.CommandFailed as failure:
        c.check("command", False, str(failure))
    c.close()


main()
