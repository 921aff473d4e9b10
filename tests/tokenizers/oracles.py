"""Tokenizers with a second implementation beside ours: each has the MODEL for our command and a `tokenizers` object."""
import glob
import json
import lzma
import os
import random

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
LEAD = r"[^\r\n\p{L}\p{N}]?"
UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTION + "|" + LEAD + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES
QWEN2 = CONTRACTION + "|" + LEAD + r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES
QWEN35 = CONTRACTION + "|" + LEAD + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + SPACES
O200K = (LEAD + UPPER + "*" + LOWER + "+" + CONTRACTION + "?|" + LEAD + UPPER + "+" + LOWER + "*" + CONTRACTION
         + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES)
TEKKEN = (LEAD + UPPER + "*" + LOWER + "+|" + LEAD + UPPER + "+" + LOWER + r"*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
          + SPACES)
WIDE = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
DEEPSEEK3 = [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
             "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
             "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]
DEEPSEEK_CODER = ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", WIDE]
ALPHABETS = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-"
    "\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec"
    "\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-"
    "\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3"
    "\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17"
    "\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-"
    "\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943")
DEEPSEEK_LLM = ["[\r\n]", r"\s?[" + ALPHABETS + "]+",
                r"\s?[!-/:-~" + "\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$", WIDE]
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"


class Oracle:
    def __init__(self, name, model, tokenizer):
        self.name = name
        self.model = model
        self.tokenizer = tokenizer
        source = json.loads(tokenizer.to_str())
        self.added = [token["content"] for token in source["added_tokens"]] or ["<none>"]
        source["added_tokens"] = []
        source["post_processor"] = None
        self.without_added = Tokenizer.from_str(json.dumps(source))  # what --plain has to equal
        # A run of bytes that is no text decodes to something else here (see text/detokenizer.h).
        self.whole_bytes = "ByteFallback" not in json.dumps(source["decoder"])


def saved(name, folder, tokenizer):
    """An oracle whose MODEL is a folder with its tokenizer.json."""
    model = os.path.join(folder, name)
    os.makedirs(model)
    tokenizer.save(os.path.join(model, "tokenizer.json"))
    return Oracle(name, model, tokenizer)


def stored(name, folder, tests):
    """A published tokenizer out of tests/tokenizers."""
    model = os.path.join(folder, name)
    os.makedirs(model)
    with lzma.open(os.path.join(tests, "tokenizers", name, "tokenizer.json.xz")) as f:
        text = f.read()
    with open(os.path.join(model, "tokenizer.json"), "wb") as f:
        f.write(text)
    return Oracle(name, model, Tokenizer.from_str(text.decode()))


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


def training_texts(seed):
    """Python's own library in a stable order, and every script a little."""
    paths = sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")))
    texts = []
    for path in paths[:10]:
        with open(path, encoding="utf-8", errors="ignore") as f:
            texts.append(f.read())
    draw = random.Random(seed)
    for first in (0xc0, 0x391, 0x410, 0x5d0, 0x627, 0x905, 0xe01, 0x3041, 0x4e00, 0xac00, 0x1f600):
        texts.append(" ".join("".join(chr(first + draw.randrange(40)) for _ in range(4)) for _ in range(300)))
    texts.append("\n".join("".join(draw.choices(" \t0123456789.,!?'aZ\u0301\u00e9", k=draw.randrange(12)))
                           for _ in range(3000)))
    return texts


def split(pattern, behaviour="isolated", invert=False):
    from tokenizers import Regex
    return pre_tokenizers.Split(Regex(pattern), behaviour, invert)


def chain(*steps, space=False, regex=False):
    """Steps, then bytes."""
    return pre_tokenizers.Sequence([*steps, pre_tokenizers.ByteLevel(add_prefix_space=space, use_regex=regex)])


DIGITS = pre_tokenizers.Digits(individual_digits=True)
BY_HAND = {
    "gpt2": chain(regex=True), "gpt2 with a blank": chain(space=True, regex=True), "smollm": chain(DIGITS, regex=True),
    "llama3": chain(split(LLAMA3)), "qwen2": chain(split(QWEN2)), "qwen35": chain(split(QWEN35)),
    "o200k": chain(split(O200K)), "tekken": chain(split(TEKKEN)), "deepseek3": chain(*map(split, DEEPSEEK3)),
    "deepseek coder": chain(*map(split, DEEPSEEK_CODER), DIGITS),
    "deepseek llm": chain(*map(split, DEEPSEEK_LLM), DIGITS),
}
BY_STEPS = {
    # The patterns of published tokenizers that nobody wrote by hand.
    "falcon": pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        pre_tokenizers.Digits(individual_digits=False), split("[0-9][0-9][0-9]")]),
    "default of GGUF": chain(split(r"[\p{P}\$\+<=>\^~\|]+"), split(GPT2), split(r"\p{N}+"), split("[0-9][0-9][0-9]")),
    "bloom": chain(split(BLOOM)),
    "digits from the right": chain(split(r"\d{1,3}(?=(?:\d{3})*\b)"), split(O200K)),
    "thousands": chain(split(r"\p{N}+"), split(r"(?=(\d{3})+(?!\d))")),
    "possessive": chain(split(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
                              r"|\s*[\r\n]|\s+(?!\S)|\s+")),
    "counted blanks": chain(split(r"\p{N}{1,3}|\s*[\r\n]+|\s{16}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}")),
    "marks behind letters": chain(split(CONTRACTION + "|" + LEAD + r"(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
                                        r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+")),
    "Han apart": chain(split(r"[\p{Han}]+|" + LEAD + r"[\p{L}&&[^\p{Han}]]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+")),
    # Every kind of class, group and border.
    "classes": chain(split(r"[[a-f]\d_-]+|[^\W\d]+|[\x41-\x{5a}\u00e9]|\h+|.(?<=\S)(?<!x)|(?>\s+)$|^\P{L}")),
    "borders": chain(split(r"\b\w+\b|\B.|\p{^L}{2,}?|[[:digit:][:space:]]{,2}x|(?m:.)\z")),
    "letters and dots": chain(split(r"(?i)[a-z\u00e9]+|\.(?!\s)")),
    # Behaviours.
    **{f"{behaviour}{' inverted' if invert else ''}": chain(split(r"[\d.,!?']|\s", behaviour, invert))
       for behaviour in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
       for invert in (False, True)},
    "text": chain(pre_tokenizers.Split(" ", "merged_with_next"), pre_tokenizers.Split("aa", "contiguous")),
    "punctuation": chain(pre_tokenizers.Punctuation("merged_with_previous"), pre_tokenizers.Digits(False)),
    "whitespace": chain(pre_tokenizers.Whitespace()), "white space split": chain(pre_tokenizers.WhitespaceSplit()),
    "bert words": chain(pre_tokenizers.BertPreTokenizer()),
    "blank before pieces": chain(DIGITS, space=True, regex=True),
    "delimiter": chain(pre_tokenizers.CharDelimiterSplit("e")),
}
NORMALIZERS = {
    "NFC": normalizers.NFC(), "NFD": normalizers.NFD(), "NFKC": normalizers.NFKC(), "NFKD": normalizers.NFKD(),
    "lower case": normalizers.Lowercase(),
    "no accents": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
    "strip": normalizers.Sequence([normalizers.Strip(left=True, right=True), normalizers.Prepend("_")]),
    "replace": normalizers.Sequence([normalizers.Replace("aa", "b"), normalizers.Replace(" ", "\u2581")]),
    "bert": normalizers.BertNormalizer(), "bert cased": normalizers.BertNormalizer(lowercase=False),
}


def finished(name, folder, tokenizer, added=False):
    """With a template, and added tokens: a few, or every combination of their flags."""
    tokenizer.add_special_tokens(["<s>", "</s>"])
    ids = [(mark, tokenizer.token_to_id(mark)) for mark in ("<s>", "</s>")]
    tokenizer.post_processor = TemplateProcessing(single="<s> <s> $A </s>", special_tokens=ids)
    tokenizer.add_tokens(list(every_flag()) if added else [AddedToken("<x y>", normalized=False),
                                                           AddedToken("e\u0301x", normalized=True)])
    return saved(name, folder, tokenizer)


def byte_level(folder, texts):
    """One model of bytes whose tokens run across words, under every pre-tokenizer and normalizer."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = chain(pre_tokenizers.Split("\n", "merged_with_next"))
    t.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=3000, show_progress=False, max_token_length=12,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    t.decoder = decoders.ByteLevel()
    model = t.to_str()
    for name, pre_tokenizer in {**BY_HAND, **BY_STEPS}.items():
        t = Tokenizer.from_str(model)
        t.pre_tokenizer = pre_tokenizer
        yield finished(name, folder, t, added=name in BY_HAND)
    for name, normalizer in NORMALIZERS.items():
        t = Tokenizer.from_str(model)
        t.pre_tokenizer = BY_HAND["llama3"]
        t.normalizer = normalizer
        yield finished("normalizer " + name, folder, t, added=name == "NFC")


def plain(folder, texts):
    """Models of characters: BPE with bytes or an unknown token, WordPiece, Unigram, each with its decoders."""
    mark = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    fused = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    alphabet = [f"<0x{byte:02X}>" for byte in range(256)]
    bytes_too = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    bytes_too.normalizer = mark
    trainer = trainers.BpeTrainer(vocab_size=3000, show_progress=False, special_tokens=["<unk>", *alphabet],
                                  limit_alphabet=300, max_token_length=12)
    bytes_too.pre_tokenizer = pre_tokenizers.Split("\u2581", "merged_with_next")
    bytes_too.train_from_iterator(texts, trainer)
    source = json.loads(bytes_too.to_str())
    source["added_tokens"] = source["added_tokens"][:1]
    text = json.dumps(source)
    for name, normalizer, pre, decoder in (
            ("llama2", mark, None, fused + [decoders.Strip(" ", 1, 0)]),
            ("gemma", normalizers.Replace(" ", "\u2581"), pre_tokenizers.Split(" ", "merged_with_previous"), fused),
            ("metaspace first", None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
             fused + [decoders.Strip(" ", 1, 0)]),
            ("metaspace always", None, pre_tokenizers.Metaspace(prepend_scheme="always"), [decoders.Metaspace()]),
            ("metaspace never", None, pre_tokenizers.Metaspace(prepend_scheme="never"),
             [decoders.Metaspace(prepend_scheme="never")])):
        t = Tokenizer.from_str(text)
        t.normalizer = normalizer or normalizers.Sequence([])
        t.pre_tokenizer = pre or pre_tokenizers.Sequence([])
        t.decoder = decoders.Sequence(decoder)
        yield finished(name, folder, t)
    for fuse in (False, True):
        source["model"]["byte_fallback"] = False
        source["model"]["fuse_unk"] = fuse
        source["pre_tokenizer"] = source["normalizer"] = source["decoder"] = None
        yield finished(f"unknown{' fused' if fuse else ''}", folder, Tokenizer.from_str(json.dumps(source)))
    yield from words(folder, texts)
    yield from unigrams(folder, texts)


def words(folder, texts):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=30))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(texts, trainers.WordPieceTrainer(
        vocab_size=3000, show_progress=False, limit_alphabet=400, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    for cleanup in (True, False):
        t.decoder = decoders.WordPiece(cleanup=cleanup)
        yield finished(f"wordpiece{'' if cleanup else ' as it is'}", folder, Tokenizer.from_str(t.to_str()))


def unigrams(folder, texts):
    alphabet = [f"<0x{byte:02X}>" for byte in range(256)]
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" ", "\u2581")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.train_from_iterator([text[:2000] for text in texts], trainers.UnigramTrainer(
        vocab_size=1000, show_progress=False, unk_token="<unk>", special_tokens=["<unk>"], max_piece_length=8))
    yield finished("unigram", folder, Tokenizer.from_str(t.to_str()))
    source = json.loads(t.to_str())
    source["model"]["byte_fallback"] = True
    source["model"]["vocab"] += [[token, -20.0] for token in alphabet]
    t = Tokenizer.from_str(json.dumps(source))
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    yield finished("unigram with bytes", folder, t)


def trained_all(folder, seed):
    texts = training_texts(seed)
    yield from byte_level(folder, texts)
    yield from plain(folder, texts)
