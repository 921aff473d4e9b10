"""Tokenizers out of GGUF files by `tokenizers`, built as the published files are; llama.cpp's own vocabularies."""
import os
import struct

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

import oracles

MARK = "\u2581"
CONTROL, USER_DEFINED = 3, 4
SMOLLM = oracles.BY_HAND["smollm"]
GPT2 = oracles.BY_HAND["gpt2"]
NFC = normalizers.NFC()

# tokenizer.ggml.pre: pre-tokenizer, normalizer, ignore_merges
PRE = {
    "default": (oracles.BY_STEPS["default of GGUF"], None, False), "gpt-2": (GPT2, None, False),
    "mpt": (GPT2, NFC, False), "starcoder": (SMOLLM, None, False), "refact": (SMOLLM, None, False),
    "smollm": (SMOLLM, None, False), "command-r": (SMOLLM, NFC, False),
    "falcon": (oracles.BY_STEPS["falcon"], None, False),
    "llama-bpe": (oracles.BY_HAND["llama3"], None, True), "qwen2": (oracles.BY_HAND["qwen2"], NFC, False),
    "qwen35": (oracles.BY_HAND["qwen35"], NFC, False), "deepseek-llm": (oracles.BY_HAND["deepseek llm"], None, False),
    "deepseek-coder": (oracles.BY_HAND["deepseek coder"], None, False),
}


class Fields:
    """The metadata of a file, by the key after tokenizer.ggml. (gguf-py reads it too, in a minute a file.)"""

    SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    STRING, ARRAY = 8, 9

    def __init__(self, path):
        with open(path, "rb") as f:
            self.bytes = f.read()
        self.at = 4 + 4 + 8  # magic, version, number of tensors
        self.fields = {}
        for _ in range(self.scalar("Q")):
            key = self.string()
            self.fields[key] = self.value(self.scalar("I"))

    def scalar(self, kind):
        (value,) = struct.unpack_from("<" + kind, self.bytes, self.at)
        self.at += struct.calcsize("<" + kind)
        return value

    def string(self):
        n = self.scalar("Q")
        self.at += n
        return self.bytes[self.at - n : self.at].decode("utf-8")

    def value(self, kind):
        if kind == self.STRING:
            return self.string()
        if kind != self.ARRAY:
            return self.scalar(self.SCALARS[kind])
        inner, n = self.scalar("I"), self.scalar("Q")
        if inner in (self.STRING, self.ARRAY):
            return [self.value(inner) for _ in range(n)]
        row = f"<{n}{self.SCALARS[inner]}"
        self.at += struct.calcsize(row)
        return list(struct.unpack_from(row, self.bytes, self.at - struct.calcsize(row)))

    def get(self, key, fallback=None):
        return self.fields.get("tokenizer.ggml." + key, fallback)


def merges(ids, scores):
    """Merges out of scores, as Hugging Face's converter has them."""
    found = []
    for token, i in ids.items():
        cuts = [(token[:k], token[k:]) for k in range(1, len(token)) if token[:k] in ids and token[k:] in ids]
        found += [(left, right, scores[i]) for left, right in sorted(cuts, key=lambda c: (ids[c[0]], ids[c[1]]))]
    found.sort(key=lambda m: (m[2], len(m[0]), len(m[1])), reverse=True)
    return [(left, right) for left, right, _ in found]


def pairs(written):
    """"left right" at the first blank after the first character."""
    return [(m[: m.index(" ", 1)], m[m.index(" ", 1) + 1 :]) for m in written]


def byte_level(f, vocab):
    pre, normalizer, ignore = PRE[f.get("pre", "default")]
    t = Tokenizer(models.BPE(vocab, pairs(f.get("merges")), ignore_merges=ignore))
    t.pre_tokenizer = pre
    t.decoder = decoders.ByteLevel()
    if normalizer:
        t.normalizer = normalizer
    return t


def sentencepiece(f, vocab, prefix):
    written, unknown = f.get("merges"), f.get("unknown_token_id")
    t = Tokenizer(models.BPE(vocab, pairs(written) if written else merges(vocab, f.get("scores")), fuse_unk=True,
                             unk_token=None if unknown is None else f.get("tokens")[unknown], byte_fallback=True))
    blanks = normalizers.Replace(" ", MARK)
    t.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), blanks]) if prefix else blanks
    t.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(),
                                   *([decoders.Strip(" ", 1, 0)] if prefix else [])])
    return t


def wordpiece(f, vocab):
    def restored(token):
        if token.startswith("[") and token.endswith("]"):
            return token
        return token[1:] if token.startswith(MARK) else "##" + token
    words = {restored(token): i for token, i in vocab.items()}
    t = Tokenizer(models.WordPiece(words, unk_token=f.get("tokens")[f.get("unknown_token_id")]))
    t.normalizer = normalizers.BertNormalizer(lowercase=f.get("normalizer.lowercase", True))
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    return t


def unigram(f, _vocab):
    scored = list(zip(f.get("tokens"), f.get("scores")))
    t = Tokenizer(models.Unigram(scored, unk_id=f.get("unknown_token_id"), byte_fallback=False))
    if f.get("precompiled_charsmap"):
        t.normalizer = normalizers.Precompiled(bytes(f.get("precompiled_charsmap")))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t.decoder = decoders.Metaspace()
    return t


def oracle(path):
    """Our command and `tokenizers` on one GGUF file."""
    f = Fields(path)
    names, types, model = f.get("tokens"), f.get("token_type"), f.get("model")
    build = {"gpt2": byte_level, "bert": wordpiece, "t5": unigram, "gemma4": lambda *a: sentencepiece(*a, False),
             "llama": lambda *a: sentencepiece(*a, f.get("add_space_prefix", True))}[model]
    t = build(f, {token: i for i, token in enumerate(names)})
    t.add_tokens([AddedToken(token, normalized=False, special=kind == CONTROL)
                  for token, kind in zip(names, types) if kind in (CONTROL, USER_DEFINED)])
    return oracles.Oracle(os.path.basename(path), path, t)
