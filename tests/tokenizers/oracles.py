"""Tokenizers with a second implementation beside ours: each has the MODEL for our command and a `tokenizers` object."""
import glob
import json
import lzma
import os
import random

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


class Oracle:
    def __init__(self, name, model, tokenizer):
        self.name = name
        self.model = model
        self.tokenizer = tokenizer
        source = json.loads(tokenizer.to_str())
        self.added = [token["content"] for token in source["added_tokens"]]
        source["added_tokens"] = []
        self.without_added = Tokenizer.from_str(json.dumps(source))  # what --plain has to equal


def saved(name, folder, tokenizer):
    """An oracle whose MODEL is a folder with its tokenizer.json."""
    model = os.path.join(folder, name)
    os.makedirs(model)
    tokenizer.save(os.path.join(model, "tokenizer.json"))
    return Oracle(name, model, tokenizer)


def qwen3(folder, tests):
    model = os.path.join(folder, "qwen3")
    os.makedirs(model)
    with lzma.open(os.path.join(tests, "tokenizers", "qwen3", "tokenizer.json.xz")) as f:
        text = f.read()
    with open(os.path.join(model, "tokenizer.json"), "wb") as f:
        f.write(text)
    return Oracle("qwen3", model, Tokenizer.from_str(text.decode()))


def smollm2(gguf_path):
    """No tokenizer.json ships with the file: the same tokenizer built from its vocabulary."""
    import gguf
    fields = gguf.GGUFReader(gguf_path).fields
    tokens, merges, types = (fields["tokenizer.ggml." + key].contents() for key in ("tokens", "merges", "token_type"))
    t = Tokenizer(models.BPE({text: i for i, text in enumerate(tokens)}, [tuple(m.split(" ")) for m in merges]))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(text, normalized=False) for text, kind in zip(tokens, types) if kind == 3])
    return Oracle("smollm2", gguf_path, t)


def every_flag():
    """Added tokens with all 32 combinations of the flags; some texts are words, some blanks, some prefixes of others.

    The special ones are no ordinary words: as data we spell such a word out, `tokenizers` would give the control id."""
    texts = ["<a>", "<a", "word", "end", "\u00e9t", "e\u0301x", "<|\u03b1|>", "  ", "\t", "x y", "<b> ", " <c>", "1",
             "\u4e2d", "_", "<d>"]
    for i, text in enumerate(texts + [text + text[::-1] + "#" for text in texts]):
        yield AddedToken(text, lstrip=bool(i & 1), rstrip=bool(i & 2), single_word=bool(i & 4), normalized=bool(i & 8),
                         special=i >= 16)


def trained(name, folder, pre_tokenizer, texts, normalizer=None):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizer
    t.decoder = decoders.ByteLevel()
    if normalizer:
        t.normalizer = normalizer
    trainer = trainers.BpeTrainer(vocab_size=4000, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    t.train_from_iterator(texts, trainer)
    t.add_special_tokens(["<s>", "</s>"])
    t.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<s> <s> $A </s>", special_tokens=[
            (mark, t.token_to_id(mark)) for mark in ("<s>", "</s>")])])
    t.add_tokens(list(every_flag()))
    return saved(name, folder, t)


def training_texts(seed):
    """Python's own library in a stable order, and every script a little."""
    paths = sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")))
    texts = []
    for path in paths[:60]:
        with open(path, encoding="utf-8", errors="ignore") as f:
            texts.append(f.read())
    draw = random.Random(seed)
    for first in (0xc0, 0x391, 0x410, 0x5d0, 0x627, 0x905, 0xe01, 0x3041, 0x4e00, 0xac00, 0x1f600):
        texts.append(" ".join("".join(chr(first + draw.randrange(40)) for _ in range(4)) for _ in range(300)))
    return texts


def trained_all(folder, seed):
    texts = training_texts(seed)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    from tokenizers import Regex
    llama3 = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), byte_level])
    yield trained("llama3", folder, llama3, texts)
    yield trained("gpt2", folder, pre_tokenizers.ByteLevel(add_prefix_space=True), texts, normalizers.NFC())
