"""Equal logits and equal state, byte for byte, over instruction sets, thread counts, prefill widths and compilers."""
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks

THREADS = (1, 2, 3, 7)
WIDTHS = (1, 2, 7, 128, "all")
ISAS = ("ref", "avx2", "avx512")
CPU_FLAGS = {"ref": set(), "avx2": {"avx2", "fma", "f16c"},
             "avx512": {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vnni"}}
REAL_TOKENS = 64  # of the real model, and of every model in a sanitizer build, which is ten times slower


def processor_flags():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            return next((set(line.split(":")[1].split()) for line in f if line.startswith("flags")), set())
    except OSError:
        return set()


def combinations(isas, n_ids, brief):
    """Options that each must give the first one's bits: every value of each axis, and some mixed; brief: `ref` once."""
    def options(isa, threads, width):
        rows = n_ids if width == "all" else width
        return ("--isa", isa, "--threads", threads, "--prefill-width", rows)
    for isa in isas:
        yield options(isa, 2, "all")
        if isa == "ref" and brief:
            continue
        yield options(isa, 1, 1)
        yield options(isa, 3, 7)
    for threads in THREADS:
        yield options(isas[-1], threads, 128)
    for width in WIDTHS:
        yield options(isas[-1], 2, width)


def once(isas):
    """Each instruction set once: what a second compiler's build has to show in the first tier."""
    for isa in isas:
        yield ("--isa", isa, "--threads", 2, "--prefill-width", 128)


def check_bits(c, name, binaries, isas, model, ids, full, brief_ref=False):
    positions = sorted({0, 1, len(ids) // 2, len(ids) - 2, len(ids) - 1})
    first = None
    for binary in binaries:
        whole = full or binary == binaries[0]
        for options in combinations(isas, len(ids), brief_ref) if whole else once(isas):
            label = f"{name}: {binary} {' '.join(map(str, options))}"
            try:
                rows, state = checks.logits_and_state(binary, model, ids, positions, "--state-sha", *options)
            except checks.CommandFailed as failure:
                c.check(label, False, str(failure))
                continue
            if first is None:
                first, first_state = rows, state
                c.check(f"{label}: a digest of the state", state and len(state) == 64, f"got {state}")
                continue
            different = int((rows.view("uint32") != first.view("uint32")).sum()) if rows.shape == first.shape else -1
            c.check(label, different == 0, f"{different} of {first.size} values differ from the first run's")
            c.equal(f"{label}: state", first_state, state)


def main():
    arguments = checks.parse_arguments(
        __doc__, lambda parser: parser.add_argument("--also", action="append", default=[], help="another build"))
    c = checks.Checks()
    flags = processor_flags()
    isas = [isa for isa in ISAS if CPU_FLAGS[isa] <= flags]
    for isa in ISAS:
        if isa not in isas:
            c.skip(f"--isa {isa}", "this processor lacks it")
    binaries = [arguments.binary, *arguments.also]
    for path in sorted(glob.glob(os.path.join(arguments.tests, "golden", "*", "ref.json"))):
        with open(path, encoding="utf-8") as f:
            prompt = json.load(f)["prompt"]
        if arguments.no_time_limits:
            prompt = prompt[:REAL_TOKENS]
        check_bits(c, os.path.basename(os.path.dirname(path)), binaries, isas, os.path.dirname(path), prompt,
                   arguments.full)
    if arguments.model:
        with open(os.path.join(arguments.tests, "golden", "smollm2.json"), encoding="utf-8") as f:
            prompt = json.load(f)["cases"][3]["prompt"][:REAL_TOKENS]
        check_bits(c, "smollm2", binaries, isas, arguments.model, prompt, arguments.full,
                   not arguments.full)
    c.close()


main()
