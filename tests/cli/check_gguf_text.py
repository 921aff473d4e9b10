"""Tokenizers that GGUF files carry, against `tokenizers` built from the same parts; broken ones refused by name."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import checks

NORMAL, CONTROL, USER_DEFINED = 1, 3, 4
TEXTS = ["hello  wörld 123", "a<ctrl>b<user>c", "don't <ctrl> stop\n\n", "été e\u0301"]
MERGES = ["h e", "l l", "Ġ w", "he ll", "Ã ©", "1 2"]


def parts():
    """Vocabulary in written form and its token types."""
    from tokenizers import pre_tokenizers
    tokens = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens += [merge.replace(" ", "") for merge in MERGES]
    types = [NORMAL] * len(tokens) + [CONTROL, USER_DEFINED]
    return tokens + ["<ctrl>", "<user>"], types


def write(path, model="gpt2", pre="gpt-2", merges=None, types=None, more=None):
    import gguf
    tokens, own_types = parts()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    if pre:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(own_types if types is None else types)
    writer.add_token_merges(MERGES if merges is None else merges)
    writer.add_bos_token_id(tokens.index("<ctrl>"))
    for key, value in (more or {}).items():
        writer.add_bool(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def reference(pre):
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers
    tokens, _ = parts()
    t = Tokenizer(models.BPE(vocab={text: i for i, text in enumerate(tokens)},
                             merges=[tuple(merge.split(" ")) for merge in MERGES]))
    qwen = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
            r"|\s+(?!\S)|\s+")
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    t.pre_tokenizer = {
        "gpt-2": pre_tokenizers.ByteLevel(add_prefix_space=False),
        "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                           pre_tokenizers.ByteLevel(add_prefix_space=False)]),
        "qwen2": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(qwen), "isolated"), bytes_only]),
    }[pre]
    if pre == "qwen2":
        t.normalizer = normalizers.NFC()
    t.add_special_tokens([AddedToken("<ctrl>", special=True)])
    t.add_tokens([AddedToken("<user>", normalized=False)])
    return t


def tokenize(binary, path, *flags):
    lines = "".join(json.dumps(text) + "\n" for text in TEXTS)
    return subprocess.run([binary, "tokenize", path, "--jsonl", *flags], input=lines.encode(), capture_output=True,
                          check=False)


def check_refused(c, binary, path, name, words, **how):
    write(path, **how)
    r = tokenize(binary, path)
    text = r.stderr.decode()
    c.check(f"refused: {name}", r.returncode == 1 and text.count("\n") == 1 and all(w in text for w in words), text)


def main():
    arguments = checks.parse_arguments(__doc__)
    c, binary = checks.Checks(), arguments.binary
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "text.gguf")
        for pre in ("gpt-2", "smollm", "qwen2"):
            write(path, pre=pre)
            t = reference(pre)
            expected = [t.encode(text, add_special_tokens=False).ids for text in TEXTS]
            r = tokenize(binary, path)
            c.equal(f"ids: {pre}", expected, [json.loads(line) for line in r.stdout.splitlines()])
            c.equal(f"status: {pre}", (0, b""), (r.returncode, r.stderr))
        bos = parts()[0].index("<ctrl>")
        write(path, more={"tokenizer.ggml.add_bos_token": True})
        firsts = [json.loads(line)[0] for line in tokenize(binary, path, "--special").stdout.splitlines()]
        c.equal("add_bos_token puts the BOS before a text", [bos] * len(TEXTS), firsts)
        check_refused(c, binary, path, "another model", ["text.gguf", "tokenizer.ggml.model", "rwkv"], model="rwkv")
        check_refused(c, binary, path, "an unknown pre-tokenizer", ["text.gguf", "tokenizer.ggml.pre", "tekkens"],
                      pre="tekkens")
        write(path, pre="default")
        named = tokenize(binary, path).stdout
        write(path, pre=None)
        c.equal("no pre-tokenizer: the default one", named, tokenize(binary, path).stdout)
        check_refused(c, binary, path, "a merge that is no pair", ["text.gguf", "tokenizer.ggml.merges", "entry 1"],
                      merges=["h e", "ll"])
        check_refused(c, binary, path, "a merge of unknown parts", ["text.gguf", "zz"], merges=["zz y"])
        check_refused(c, binary, path, "too few token types", ["text.gguf", "tokenizer.ggml.token_type"],
                      types=[NORMAL])
    c.close()


if __name__ == "__main__":
    main()
