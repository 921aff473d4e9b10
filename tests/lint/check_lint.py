"""Plants one violation of each lint rule in a small clean tree: each goes red at its place, the clean tree green."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks

HEAD = "// A file of the test tree.\n"
CLEAN = {
    "Makefile": "# The make file of the test tree.\ninclude mk/flags.mk\n",
    "mk/flags.mk": "# Flags of the test tree.\n"
                   "ARITH := -ffp-contract=off -fno-fast-math\nTF_CFLAGS := -O2 \\\n  $(ARITH)\n",
    "src/base/mem.c": HEAD + "#include <stdlib.h>\nvoid mem_free(void *p) { free(p); }\n",
    "src/text/chat.c": HEAD + '#include "base/mem.h"\n#include "text/chat.h"\n',
    "src/kernels/draw/draw.def": "// The variants of draw.\n",
    "src/kernels/draw/draw_ref.c": HEAD,
    "src/kernels/draw/draw_check.c": HEAD,
    "src/model/families/llama.c": HEAD + '#include "model/arch.h"\n',
    "src/model/model.h": HEAD + "#ifndef TF_MODEL_MODEL_H\n#define TF_MODEL_MODEL_H\n#endif\n",
    "src/engine/round.c": HEAD + '#include "model/model.h"\n#include "kernels/draw/draw.h"\n'
                          "static void f(struct x *p) {\n    p->free(p);\n    g((struct y){1, {2}});\n}\n",
    "src/cli/main.c": HEAD + '#include "engine/engine.h"\n#include <stdlib.h>\n'
                      'int main(void) {\n    return getenv("HOME") ? 0 : 1; // "strcpy(" in a comment\n}\n',
    "src/text/unicode_tables.c": HEAD + "x\n" * 700,
    "tools/tool": "#!/bin/sh\n# Does something.\necho 'done'\n",
    "tests/unit/base/check_it.py": '"""Checks something."""\nprint(1)\n',
    "README.md": "# A title\n\nProse of any width." + " word" * 60 + "\n",
}


def function(body):
    return HEAD + "void f(void) {\n" + body + "}\n"


# rule, file, content, line
PLANTS = [
    ("layers", "src/base/up.c", HEAD + '#include "text/chat.h"\n', 2),
    ("layers", "src/text/side.c", HEAD + '#include "checkpoint/config.h"\n', 2),
    ("layers", "src/checkpoint/side.c", HEAD + '#include "kernels/draw/draw.h"\n', 2),
    ("layers", "src/kernels/draw/side.c", HEAD + '#include "text/chat.h"\n', 2),
    ("layers", "src/engine/deep.c", HEAD + '#include "model/load.h"\n', 2),
    ("layers", "src/engine/deep.c", HEAD + '#include "kernels/norm/norm.h"\n', 2),
    ("layers", "src/model/deep.c", HEAD + '#include "kernels/norm/norm.h"\n', 2),
    ("layers", "src/backend/cpu/up.c", HEAD + '#include "model/model.h"\n', 2),
    ("layers", "src/model/families/other.c", HEAD + '#include "model/model.h"\n', 2),
    ("layers", "src/model/families/other.c", HEAD + "#include <string.h>\n", 2),
    ("include-form", "src/base/near.c", HEAD + '#include "mem.h"\n', 2),
    ("include-form", "src/base/near.c", HEAD + '#include "../base/mem.h"\n', 2),
    ("isa", "src/kernels/draw/wide.c", HEAD + "#include <immintrin.h>\n", 2),
    ("guard", "src/base/odd.h", HEAD + "#ifndef ODD_H\n#define ODD_H\n#endif\n", 2),
    ("file-length", "src/base/long.c", HEAD + "int x;\n" * 600, 601),
    ("file-length", "src/base/long.h",
     HEAD + "#ifndef TF_BASE_LONG_H\n#define TF_BASE_LONG_H\n" + "int f(void);\n" * 250 + "#endif\n", 251),
    ("function-length", "src/base/long.c", function("    g();\n" * 99), 2),
    ("parameters", "src/base/many.c", HEAD + "int f(int a, int b, int c, int d, int e, int g, int h, int i) {\n}\n", 2),
    ("parameters", "src/base/many.c", HEAD + "int f(int a, int b, int c, int d,\n  int e, int g, int h, int i);\n", 2),
    ("nesting", "src/base/deep.c",
     function("if (a) {\nfor (;;) {\nwhile (b) {\nswitch (c) {\ncase 1:\ndo {\n} while (d);\n}\n}\n}\n}\n"), 8),
    ("nesting", "src/base/deep.c", function("if (a) {\nfor (;;) {\nwhile (b) {\nfor (;;)\nif (c)\ng();\n}\n}\n}\n"), 8),
    ("line-length", "src/base/wide.c", HEAD + "int x; //" + "x" * 120 + "\n", 2),
    ("line-length", "tools/wide", "#!/bin/sh\n# Does something.\necho " + "x" * 120 + "\n", 3),
    ("first-line", "src/base/mute.c", "#include <string.h>\n", 1),
    ("first-line", "tools/mute", "#!/bin/sh\necho\n", 2),
    ("first-line", "tests/unit/base/mute.py", "import os\n", 1),
    ("raw-memory", "src/text/raw.c", function("p = malloc(1);\n"), 3),
    ("raw-memory", "src/cli/raw.c", function("free (p);\n"), 3),
    ("below-cli", "src/engine/loud.c", function('printf("x");\n'), 3),
    ("below-cli", "src/engine/loud.c", function('fprintf(stderr, "x");\n'), 3),
    ("below-cli", "src/engine/loud.c", function('puts("x");\n'), 3),
    ("below-cli", "src/engine/loud.c", function("exit(1);\n"), 3),
    ("below-cli", "src/engine/loud.c", function("abort();\n"), 3),
    ("below-cli", "src/base/loud.c", function('getenv("HOME");\n'), 3),
    ("getenv", "src/cli/second.c", function('getenv("HOME");\n'), 3),
    ("flags", "mk/cuda.mk", "# Flags for CUDA.\nNVCC_FLAGS := -O3 --use_fast_math\n", 2),
    ("flags", "mk/more.mk", "# More flags.\nMORE := -ffast-math\n", 2),
    ("flags", "mk/more.mk", "# More flags.\nMORE := -Ofast\n", 2),
    ("flags", "mk/flags.mk", "# Flags of the tree.\nARITH := -O2\nTF_CFLAGS := $(ARITH)\n", 1),
    ("flags", "mk/flags.mk", "# Flags of the tree.\nARITH := -ffp-contract=off\nTF_CFLAGS := -O2\n", 1),
    ("flags", "src/base/pragma.c", HEAD + "#pragma STDC FP_CONTRACT ON\n", 2),
    ("tab", "src/base/tab.c", HEAD + "\tint x;\n", 2),
    ("tab", "mk/tab.mk", "# Has a tab inside.\nX := 1\t2\n", 2),
    ("trailing-space", "src/base/blank.c", HEAD + "int x; \n", 2),
    ("line-end", "src/base/dos.c", HEAD + "int x;\r\n", 2),
    ("line-end", "src/base/short.c", HEAD + "int x;", 2),
    ("invisible", "src/base/hidden.c", HEAD + "int x\u200b;\n", 2),
    ("invisible", "README.md", "# A title\n\nNo\u00a0break.\n", 3),
    ("invisible", "README.md", "# A title\n\n\u202eturned\n", 3),
    ("unique-name", "src/text/mem.c", HEAD, 1),
    ("kernel-files", "src/kernels/norm/norm.def", "// The variants of norm.\n", 1),
    ("machine-path", "README.md", "# A title\n\nSee /home/me/models.\n", 3),
    ("host", "README.md", "# A title\n\nFrom files.pythonhosted.org.\n", 3),
    ("to-do", "src/base/later.c", HEAD + "// TODO: the rest.\n", 2),
    ("to-do", "tools/later", "#!/bin/sh\n# Does something.\n# FIXME later\n", 3),
    ("dead-code", "src/base/dead.c", HEAD + "// x = y + 1;\n", 2),
    ("dead-code", "src/base/dead.c", HEAD + "// free_all(p);\n", 2),
    ("dead-code", "src/base/dead.c", HEAD + "// if (x) {\n", 2),
    ("dead-code", "tests/unit/base/dead.py", '"""Checks something."""\n# import os\n', 2),
] + [("banned-call", "src/cli/bad.c", function(f"x = {name}(y);\n"), 3)
     for name in ("strcpy", "strcat", "sprintf", "strtok", "atoi", "gets", "alloca", "rand", "setjmp")]

RULE_IN_SOURCE = r'say\((?:[a-zA-Z_]+, )?"([a-z-]+)"|finding "[^ ]+ [^ ]+ ([a-z-]+)|finding mk[^ ]+ 1 ([a-z-]+)'


def write(folder, path, content):
    full = os.path.join(folder, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8", newline="") as f:
        f.write(content)


def lint(tool, tree):
    result = subprocess.run([tool, tree], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return result.returncode, result.stdout.decode("utf-8", "replace")


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    tool = os.path.abspath(os.path.join(arguments.tests, "..", "tools", "lint"))
    with tempfile.TemporaryDirectory() as folder:
        clean = os.path.join(folder, "clean")
        for path, content in CLEAN.items():
            write(clean, path, content)
        code, text = lint(tool, clean)
        c.check("the clean tree is green", code == 0 and ": " not in text, text)
        c.equal("closing line", f"{len(CLEAN)} passed, 0 failed", text.strip().splitlines()[-1])
        for rule, path, content, line in PLANTS:
            tree = os.path.join(folder, "planted")
            shutil.copytree(clean, tree)
            write(tree, path, content)
            code, text = lint(tool, tree)
            c.check(f"{rule} in {path}: {content.splitlines()[line - 1][:60]!r}",
                    code == 1 and re.search(f"^{re.escape(path)}:{line}: {rule}: ", text, re.M) and
                    all(f": {rule}: " in found or found.endswith("failed") for found in text.splitlines()), text)
            shutil.rmtree(tree)
    rules = {"".join(groups) for groups in re.findall(RULE_IN_SOURCE, lint_source(tool))}
    planted = {plant[0] for plant in PLANTS}
    for rule in sorted(rules):
        c.check(f"rule {rule} has a plant", rule in planted)
    c.close()


def lint_source(tool):
    text = ""
    for path in (tool, tool + ".d/c.awk", tool + ".d/text.awk"):
        with open(path, encoding="utf-8") as f:
            text += f.read()
    return text


main()
