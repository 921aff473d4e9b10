// Small tokenizers of other kinds than bytes for tests, written as tokenizer.json.
#ifndef TF_TESTS_UNIT_TEXT_PLAIN_TOKENIZER_H
#define TF_TESTS_UNIT_TEXT_PLAIN_TOKENIZER_H

#include "tests/unit/text/tiny_tokenizer.h"

#define FUSED "{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}"
#define MARK_TO_BLANK "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\u2581\"},\"content\":\" \"}"

// Llama 2's kind. Ids: 0 <unk>, 1 \u2581, 2 h, 3 i, 4 hi, 5 \u2581hi, 6..9 the bytes of U+1F600, 10 <0xC3>.
#define LLAMA2                                                                                     \
    "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"\u2581\"}," \
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\u2581\"}]}," \
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[" MARK_TO_BLANK "," FUSED \
    ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}," \
    "\"added_tokens\":[{\"id\":11,\"content\":\"<s>\",\"special\":true}," \
    "{\"id\":0,\"content\":\"<unk>\",\"special\":true}],\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\"," \
    "\"fuse_unk\":true,\"byte_fallback\":true,\"vocab\":{\"<unk>\":0," \
    "\"\u2581\":1,\"h\":2,\"i\":3,\"hi\":4,\"\u2581hi\":5,\"<0xF0>\":6,\"<0x9F>\":7,\"<0x98>\":8,\"<0x80>\":9," \
    "\"<0xC3>\":10},\"merges\":[\"h i\",\"\u2581 hi\"]}}"

// BERT's kind. Ids: 0 [UNK], 1 un, 2 ##aff, 3 ##able, 4 !, 5 do, 6 not.
#define BERT                                                                                       \
    "{\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}," \
    "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},\"model\":{\"type\":\"WordPiece\"," \
    "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":10,\"vocab\":{" \
    "\"[UNK]\":0,\"un\":1,\"##aff\":2,\"##able\":3,\"!\":4,\"do\":5,\"not\":6}}}"

// T5's kind. Ids: 0 <unk>, 1 \u2581, 2 a, 3 b, 4 ab, 5 \u2581a, 6 bb.
#define UNIGRAM                                                                                    \
    "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\u2581\",\"prepend_scheme\":\"always\"}," \
    "\"decoder\":{\"type\":\"Metaspace\",\"replacement\":\"\u2581\",\"prepend_scheme\":\"always\"}," \
    "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],[\"\u2581\",-2],[\"a\",-3],[\"b\",-3]," \
    "[\"ab\",-4],[\"\u2581a\",-3.5],[\"bb\",-3.5]]}}"

static inline struct tokenizer *plain_new(const char *json) {
    struct tokenizer *t = NULL;
    struct err e = {0};
    if (tokenizer_from_json(json, strlen(json), &t, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
    return t;
}

#endif
