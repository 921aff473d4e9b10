"""What the tests take from the source package of llama-cpp-python: vocabularies with golden cases, chat templates."""
import os
import subprocess
import sys
import tarfile
import tempfile

PACKAGE = "llama-cpp-python==0.3.36"
# Folder of ours: what it holds, by the end of the folder's path in the package and the beginning of the file's name.
KINDS = {"vocabs": ("vendor/llama.cpp/models", "ggml-vocab-"), "templates": ("vendor/llama.cpp/models/templates", "")}


def fetch(tests, kind):
    """The folder with files of that kind, in the build folder beside the tests; fetched once (76 MB)."""
    home = os.path.join(tests, "..", "build", "llama-cpp-source")
    if not os.path.isdir(home):
        os.makedirs(os.path.dirname(home), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(home)) as work:
            unpack(work)
            os.rename(os.path.join(work, "unpacked"), home)
    return os.path.join(home, kind)


def templates(arguments):
    """The folder of more templates that a script's options ask for, or None."""
    if arguments.templates or not arguments.full:
        return arguments.templates
    return fetch(arguments.tests, "templates")


def unpack(work):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest",
                    work, PACKAGE], check=True)
    (path,) = [name for name in os.listdir(work) if name.endswith(".tar.gz")]
    for kind in KINDS:
        os.makedirs(os.path.join(work, "unpacked", kind))
    with tarfile.open(os.path.join(work, path)) as package:
        for member in package:
            folder, name = os.path.split(member.name)
            for kind, (end, beginning) in KINDS.items():
                if member.isfile() and folder.endswith(end) and name.startswith(beginning):
                    with package.extractfile(member) as source, \
                            open(os.path.join(work, "unpacked", kind, name), "wb") as out:
                        out.write(source.read())
    for kind in KINDS:
        if not os.listdir(os.path.join(work, "unpacked", kind)):
            raise RuntimeError(f"{PACKAGE} holds no {kind}")
