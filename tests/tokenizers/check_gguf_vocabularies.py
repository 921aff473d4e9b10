"""Vocabularies in GGUF files: each model that we read, trained small and written as llama.cpp's converter does."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
sys.path.insert(0, os.path.dirname(__file__))
import checks
import ggml_vocabs
import gguf
import oracles
from random_text import Text, compare, lines
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
MARK = "\u2581"


def write(path, model, tokens, types, **more):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    for key, value in more.items():
        key = "tokenizer.ggml." + key
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def by_id(tokenizer):
    return [token for token, _ in sorted(tokenizer.get_vocab().items(), key=lambda pair: pair[1])]


def byte_level(folder, texts):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = oracles.chain(pre_tokenizers.Split("\n", "merged_with_next"))
    t.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=1500, show_progress=False, max_token_length=10,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    merges = [" ".join(pair) for pair in json.loads(t.to_str())["model"]["merges"]]
    tokens = by_id(t)
    types = [NORMAL] * len(tokens) + [CONTROL, USER_DEFINED]
    for pre in ggml_vocabs.PRE:
        yield write(os.path.join(folder, f"{pre}.gguf"), "gpt2", tokens + ["<|end|>", "<tool>"], types, merges=merges,
                    pre=pre, bos_token_id=len(tokens))


def sentencepiece(folder, texts):
    """Scores as SentencePiece gives them: minus the rank."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=1500, show_progress=False, limit_alphabet=300))
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    learned = by_id(t)
    tokens = ["<unk>", "<s>", "</s>", *fallback, *learned, "<tool>"]
    types = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(learned), USER_DEFINED]
    scores = [0.0] * 259 + [-float(i) for i in range(len(learned))] + [0.0]
    common = {"scores": scores, "bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0}
    yield write(os.path.join(folder, "llama.gguf"), "llama", tokens, types, **common)
    yield write(os.path.join(folder, "llama without prefix.gguf"), "llama", tokens, types, **common,
                add_space_prefix=False)
    merges = [" ".join(pair) for pair in json.loads(t.to_str())["model"]["merges"]]
    yield write(os.path.join(folder, "gemma4.gguf"), "gemma4", tokens, types, **common, merges=merges)


def wordpiece(folder, texts):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator([text.lower() for text in texts], trainers.WordPieceTrainer(
        vocab_size=1500, show_progress=False, limit_alphabet=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tokens = [token if token.startswith("[") and token.endswith("]") else token[2:] if token.startswith("##")
              else MARK + token for token in by_id(t)]
    for lower in (True, False):
        yield write(os.path.join(folder, f"bert {lower}.gguf"), "bert", tokens, [CONTROL] * 4 + [NORMAL] *
                    (len(tokens) - 4), unknown_token_id=1, cls_token_id=2, seperator_token_id=3,
                    **{"normalizer.lowercase": lower})


def unigram(folder, texts):
    t = Tokenizer(models.Unigram())
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.train_from_iterator([text[:2000] for text in texts], trainers.UnigramTrainer(
        vocab_size=900, show_progress=False, unk_token="<unk>", special_tokens=["<unk>", "</s>"], max_piece_length=8))
    rows = json.loads(t.to_str())["model"]["vocab"]
    yield write(os.path.join(folder, "t5.gguf"), "t5", [token for token, _ in rows],
                [UNKNOWN, CONTROL] + [NORMAL] * (len(rows) - 2), scores=[float(score) for _, score in rows],
                unknown_token_id=0, eos_token_id=1)


def check(c, binary, path, count):
    oracle = ggml_vocabs.oracle(path)
    text = Text(1, oracle.added)
    texts = [text.next() for _ in range(count)]
    ids = [e.ids for e in oracle.tokenizer.encode_batch(texts, add_special_tokens=False)]
    compare(c, f"{oracle.name}: {count} strings to ids", texts, ids, lines(binary, path, texts))
    compare(c, f"{oracle.name}: {count} strings back to text", ids,
            oracle.tokenizer.decode_batch(ids, skip_special_tokens=False), lines(binary, path, ids, "--decode"))


# What goes round a text: by the model, or by the keys.
EDGES = {"llama": ([1], []), "gemma4": ([1], []), "bert True": ([2], [3]), "t5": ([], [1]), "gpt-2": ([], []),
         "llama-bpe": ([1500], [])}


def check_edges(c, binary, path):
    name = os.path.basename(path)[: -len(".gguf")]
    if name in EDGES:
        before, after = EDGES[name]
        (plain,), (whole,) = lines(binary, path, ["a b"]), lines(binary, path, ["a b"], "--special")
        c.equal(f"{name}: what goes round a text", before + plain + after, whole)


def refused(c, binary, name, path, *named):
    """The command ends with a message that holds all of that."""
    try:
        checks.run(binary, "tokenize", path, "--jsonl", stdin=b'"a"\n')
        c.check(name, False, "it was taken")
    except checks.CommandFailed as failure:
        c.check(name, all(word in str(failure) for word in named), f"expected {named} in: {failure}")


def check_refusals(c, binary, folder):
    tokens, types = ["<unk>", "a", "b"], [UNKNOWN, NORMAL, NORMAL]
    path = os.path.join(folder, "refused.gguf")
    refused(c, binary, "an unknown model", write(path, "rwkv", tokens, types), "rwkv")
    refused(c, binary, "an unknown pre-tokenizer", write(path, "gpt2", tokens, types, merges=["a b"], pre="klingon"),
            "tokenizer.ggml.pre klingon")
    refused(c, binary, "no scores", write(path, "llama", tokens, types, unknown_token_id=0), "tokenizer.ggml.scores")
    refused(c, binary, "too few scores", write(path, "llama", tokens, types, scores=[1.0], unknown_token_id=0),
            "tokenizer.ggml.scores", "1", "3")
    refused(c, binary, "an unknown token beyond the end",
            write(path, "llama", tokens, types, scores=[0.0] * 3, unknown_token_id=9), "9")
    refused(c, binary, "a broken character map", write(path, "t5", tokens, types, scores=[0.0] * 3, unknown_token_id=0,
                                                       precompiled_charsmap=[255, 255, 255, 255]), "character map")


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    texts = oracles.training_texts(1)
    with tempfile.TemporaryDirectory() as folder:
        for kind in (byte_level, sentencepiece, wordpiece, unigram):
            for path in kind(folder, texts):
                try:
                    check(c, arguments.binary, path, 20000 if arguments.full else 200)
                    check_edges(c, arguments.binary, path)
                except checks.CommandFailed as failure:
                    c.check(os.path.basename(path), False, str(failure))
        check_refusals(c, arguments.binary, folder)
    c.close()


main()
