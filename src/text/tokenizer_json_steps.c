// The parts of tokenizer.json that are chains of steps: normalizer, pre-tokenizer, decoder.
#include "text/tokenizer_json.h"

#include "text/unicode.h"

#include <string.h>

enum { NESTING_MAX = 8 };

const char *tokenizer_json_type(yyjson_val *object) {
    const char *type = yyjson_get_str(yyjson_obj_get(object, "type"));
    return type ? type : "(without a type)";
}

enum status tokenizer_json_flag(struct tokenizer_json *r, yyjson_val *object, const char *where, const char *key,
                                bool fallback, bool *out) {
    yyjson_val *v = yyjson_obj_get(object, key);
    *out = v ? yyjson_is_true(v) : fallback;
    if (v && !yyjson_is_bool(v)) return err_set(r->e, STATUS_INVALID, "%s.%s is neither true nor false", where, key);
    return STATUS_OK;
}

enum status tokenizer_json_text(struct tokenizer_json *r, yyjson_val *object, const char *where, const char *key,
                                const char **out, size_t *n) {
    yyjson_val *v = yyjson_obj_get(object, key);
    *out = yyjson_get_str(v);
    *n = yyjson_get_len(v);
    return *out ? STATUS_OK : err_set(r->e, STATUS_INVALID, "%s.%s is no text", where, key);
}

enum status tokenizer_json_number(struct tokenizer_json *r, yyjson_val *object, const char *where, const char *key,
                                  size_t fallback, size_t *out) {
    yyjson_val *v = yyjson_obj_get(object, key);
    *out = fallback;
    if (tokenizer_json_absent(v)) return STATUS_OK;
    if (!yyjson_is_uint(v) || yyjson_get_uint(v) > 1000000)
        return err_set(r->e, STATUS_INVALID, "%s.%s is no whole number up to 1000000", where, key);
    *out = (size_t)yyjson_get_uint(v);
    return STATUS_OK;
}

static enum status too_many(struct tokenizer_json *r, const char *where) {
    return err_set(r->e, STATUS_TOO_LARGE, "%s has more than %d steps", where, TOKENIZER_JSON_STEPS_MAX);
}

static enum status unsupported(struct tokenizer_json *r, const char *where, yyjson_val *v) {
    return err_set(r->e, STATUS_UNSUPPORTED, "the %s %s is not supported", where, tokenizer_json_type(v));
}

// pattern: {"String": text} or {"Regex": text}.
static enum status read_pattern(struct tokenizer_json *r, yyjson_val *v, const char *where, bool *regex,
                                const char **text, size_t *n) {
    yyjson_val *pattern = yyjson_obj_get(v, "pattern");
    *regex = yyjson_obj_get(pattern, "Regex");
    return tokenizer_json_text(r, pattern, where, *regex ? "Regex" : "String", text, n);
}

// --- normalizer ---

static enum status add_normalize(struct tokenizer_json *r, struct normalize_step step) {
    if (r->source.n_normalize_steps == TOKENIZER_JSON_STEPS_MAX) return too_many(r, "normalizer");
    r->normalize[r->source.n_normalize_steps++] = step;
    return STATUS_OK;
}

static enum status read_bert_normalizer(struct tokenizer_json *r, yyjson_val *v) {
    bool clean, chinese, accents, lower;
    TRY(tokenizer_json_flag(r, v, "normalizer", "clean_text", true, &clean));
    TRY(tokenizer_json_flag(r, v, "normalizer", "handle_chinese_chars", true, &chinese));
    TRY(tokenizer_json_flag(r, v, "normalizer", "lowercase", true, &lower));
    accents = lower;
    if (!tokenizer_json_absent(yyjson_obj_get(v, "strip_accents")))
        TRY(tokenizer_json_flag(r, v, "normalizer", "strip_accents", lower, &accents));
    if (clean) TRY(add_normalize(r, (struct normalize_step){.kind = NORMALIZE_BERT_CLEAN}));
    if (chinese) TRY(add_normalize(r, (struct normalize_step){.kind = NORMALIZE_BERT_CHINESE}));
    if (accents) TRY(add_normalize(r, (struct normalize_step){.kind = NORMALIZE_NFD}));
    if (accents) TRY(add_normalize(r, (struct normalize_step){.kind = NORMALIZE_BERT_ACCENTS}));
    return lower ? add_normalize(r, (struct normalize_step){.kind = NORMALIZE_LOWERCASE}) : STATUS_OK;
}

static int base64_value(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static enum status read_precompiled(struct tokenizer_json *r, yyjson_val *v) {
    struct normalize_step step = {.kind = NORMALIZE_PRECOMPILED};
    const char *text;
    size_t n;
    TRY(tokenizer_json_text(r, v, "normalizer", "precompiled_charsmap", &text, &n));
    char *bytes = arena_new(&r->arena, n, 1);
    if (!bytes) return err_set(r->e, STATUS_NO_MEMORY, "no memory to read it");
    uint32_t bits = 0;
    for (size_t i = 0; i < n && text[i] != '='; i++) {
        int value = base64_value(text[i]);
        if (value < 0) return err_set(r->e, STATUS_INVALID, "normalizer.precompiled_charsmap is no base64");
        bits = bits << 6 | (uint32_t)value;
        if (i % 4) bytes[step.n++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    step.text = bytes;
    return add_normalize(r, step);
}

static enum status read_replace(struct tokenizer_json *r, yyjson_val *v) {
    struct normalize_step step = {.kind = NORMALIZE_REPLACE};
    bool regex;
    TRY(read_pattern(r, v, "normalizer.pattern", &regex, &step.text, &step.n));
    if (regex) step.kind = NORMALIZE_REPLACE_REGEX;
    TRY(tokenizer_json_text(r, v, "normalizer", "content", &step.with, &step.n_with));
    return add_normalize(r, step);
}

static enum status read_simple_normalizer(struct tokenizer_json *r, yyjson_val *v) {
    static const struct {
        const char *type;
        enum normalize_kind kind;
    } simple[] = {{"NFC", NORMALIZE_NFC}, {"NFD", NORMALIZE_NFD}, {"NFKC", NORMALIZE_NFKC}, {"NFKD", NORMALIZE_NFKD},
                  {"Lowercase", NORMALIZE_LOWERCASE}, {"StripAccents", NORMALIZE_STRIP_ACCENTS}};
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++)
        if (tokenizer_json_is(v, simple[i].type))
            return add_normalize(r, (struct normalize_step){.kind = simple[i].kind});
    return unsupported(r, "normalizer", v);
}

static enum status read_normalizer(struct tokenizer_json *r, yyjson_val *v, int depth) {
    if (tokenizer_json_absent(v)) return STATUS_OK;
    if (tokenizer_json_is(v, "Sequence")) {
        yyjson_val *steps = yyjson_obj_get(v, "normalizers"), *step;
        size_t i, n;
        if (!yyjson_is_arr(steps) || depth == NESTING_MAX) return unsupported(r, "normalizer", v);
        yyjson_arr_foreach(steps, i, n, step) TRY(read_normalizer(r, step, depth + 1));
        return STATUS_OK;
    }
    if (tokenizer_json_is(v, "BertNormalizer")) return read_bert_normalizer(r, v);
    if (tokenizer_json_is(v, "Precompiled")) return read_precompiled(r, v);
    if (tokenizer_json_is(v, "Replace")) return read_replace(r, v);
    if (tokenizer_json_is(v, "Prepend")) {
        struct normalize_step step = {.kind = NORMALIZE_PREPEND};
        TRY(tokenizer_json_text(r, v, "normalizer", "prepend", &step.with, &step.n_with));
        return add_normalize(r, step);
    }
    if (tokenizer_json_is(v, "Strip")) {
        struct normalize_step step = {.kind = NORMALIZE_STRIP};
        TRY(tokenizer_json_flag(r, v, "normalizer", "strip_left", true, &step.left));
        TRY(tokenizer_json_flag(r, v, "normalizer", "strip_right", true, &step.right));
        return add_normalize(r, step);
    }
    return read_simple_normalizer(r, v);
}

enum status tokenizer_json_normalizer(struct tokenizer_json *r, yyjson_val *v) {
    r->source.normalize_steps = r->normalize;
    return read_normalizer(r, v, 0);
}

// --- pre-tokenizer ---

static enum status push_split(struct tokenizer_json *r, struct split_step step) {
    if (r->source.n_split_steps == TOKENIZER_JSON_STEPS_MAX) return too_many(r, "pre_tokenizer");
    r->split[r->source.n_split_steps++] = step;
    return STATUS_OK;
}

// Behind ByteLevel steps see the byte alphabet, so it has to be written.
static enum status add_split(struct tokenizer_json *r, struct split_step step) {
    size_t n = r->source.n_split_steps;
    bool written = false;
    for (size_t i = 0; i < n; i++) written = written || r->split[i].kind == SPLIT_ALPHABET;
    if (r->byte_level && !written) TRY(push_split(r, (struct split_step){.kind = SPLIT_ALPHABET}));
    return push_split(r, step);
}

static enum status read_behaviour(struct tokenizer_json *r, yyjson_val *v, enum split_behaviour *out) {
    static const char *const names[] = {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    yyjson_val *name = yyjson_obj_get(v, "behavior");
    for (int i = 0; i < 5; i++) {
        if (!yyjson_equals_str(name, names[i])) continue;
        *out = (enum split_behaviour)i;
        return STATUS_OK;
    }
    if (!name && tokenizer_json_is(v, "Punctuation")) return STATUS_OK;
    return err_set(r->e, STATUS_UNSUPPORTED, "the behavior of the pre_tokenizer %s is not supported",
                   tokenizer_json_type(v));
}

static enum status read_byte_level(struct tokenizer_json *r, yyjson_val *v) {
    static const char gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
    bool space, regex;
    if (r->byte_level) return err_set(r->e, STATUS_UNSUPPORTED, "the pre_tokenizer ByteLevel is there twice");
    TRY(tokenizer_json_flag(r, v, "pre_tokenizer", "add_prefix_space", true, &space));
    TRY(tokenizer_json_flag(r, v, "pre_tokenizer", "use_regex", true, &regex));
    if (space) TRY(push_split(r, (struct split_step){.kind = SPLIT_PREFIX_SPACE}));
    if (regex) TRY(push_split(r, (struct split_step){.kind = SPLIT_REGEX, .text = gpt2, .n = sizeof gpt2 - 1}));
    r->byte_level = true;
    return STATUS_OK;
}

// The scheme of a Metaspace; older files only have add_prefix_space.
static enum status read_prepend(struct tokenizer_json *r, yyjson_val *v, enum split_prepend *out) {
    static const char *const names[] = {"never", "first", "always"};
    yyjson_val *scheme = yyjson_obj_get(v, "prepend_scheme");
    bool space;
    TRY(tokenizer_json_flag(r, v, "Metaspace", "add_prefix_space", true, &space));
    *out = SPLIT_PREPEND_ALWAYS;
    for (int i = 0; i < 3; i++)
        if (yyjson_equals_str(scheme, names[i])) *out = (enum split_prepend)i;
    if (scheme && !yyjson_equals_str(scheme, names[*out]))
        return err_set(r->e, STATUS_UNSUPPORTED, "the prepend_scheme of Metaspace is not supported");
    if (!space) *out = SPLIT_PREPEND_NEVER;
    return STATUS_OK;
}

static enum status read_metaspace(struct tokenizer_json *r, yyjson_val *v) {
    struct split_step step = {.kind = SPLIT_METASPACE};
    bool split;
    TRY(tokenizer_json_text(r, v, "Metaspace", "replacement", &step.text, &step.n));
    TRY(read_prepend(r, v, &step.prepend));
    TRY(tokenizer_json_flag(r, v, "Metaspace", "split", true, &split));
    TRY(add_split(r, step));
    if (!split) return STATUS_OK;
    return add_split(r, (struct split_step){
                            .kind = SPLIT_TEXT, .behaviour = SPLIT_MERGED_WITH_NEXT, .text = step.text, .n = step.n});
}

static enum status read_split(struct tokenizer_json *r, yyjson_val *v) {
    struct split_step step = {.kind = SPLIT_TEXT};
    bool regex;
    TRY(read_pattern(r, v, "pre_tokenizer.pattern", &regex, &step.text, &step.n));
    TRY(read_behaviour(r, v, &step.behaviour));
    TRY(tokenizer_json_flag(r, v, "pre_tokenizer", "invert", false, &step.invert));
    if (regex) step.kind = SPLIT_REGEX;
    return add_split(r, step);
}

static enum status read_class_split(struct tokenizer_json *r, yyjson_val *v) {
    struct split_step step = {.kind = SPLIT_CLASS, .classes = UNICODE_SPACE, .behaviour = SPLIT_REMOVED};
    if (tokenizer_json_is(v, "WhitespaceSplit")) return add_split(r, step);
    if (tokenizer_json_is(v, "BertPreTokenizer")) {
        TRY(add_split(r, step));
        step = (struct split_step){.kind = SPLIT_CLASS, .classes = UNICODE_PUNCTUATION_MARK};
        return add_split(r, step);
    }
    if (tokenizer_json_is(v, "Punctuation")) {
        step = (struct split_step){.kind = SPLIT_CLASS, .classes = UNICODE_PUNCTUATION_MARK};
        TRY(read_behaviour(r, v, &step.behaviour));
        return add_split(r, step);
    }
    bool one_by_one; // Digits
    TRY(tokenizer_json_flag(r, v, "pre_tokenizer", "individual_digits", false, &one_by_one));
    step = (struct split_step){
        .kind = SPLIT_CLASS, .classes = UNICODE_DIGIT, .behaviour = one_by_one ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS};
    return add_split(r, step);
}

static enum status read_pretokenizer(struct tokenizer_json *r, yyjson_val *v, int depth) {
    static const char *const class_splits[] = {"WhitespaceSplit", "BertPreTokenizer", "Punctuation", "Digits"};
    if (tokenizer_json_absent(v)) return STATUS_OK;
    if (tokenizer_json_is(v, "Sequence")) {
        yyjson_val *steps = yyjson_obj_get(v, "pretokenizers"), *step;
        size_t i, n;
        if (!yyjson_is_arr(steps) || depth == NESTING_MAX) return unsupported(r, "pre_tokenizer", v);
        yyjson_arr_foreach(steps, i, n, step) TRY(read_pretokenizer(r, step, depth + 1));
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof class_splits / sizeof class_splits[0]; i++)
        if (tokenizer_json_is(v, class_splits[i])) return read_class_split(r, v);
    if (tokenizer_json_is(v, "ByteLevel")) return read_byte_level(r, v);
    if (tokenizer_json_is(v, "Metaspace")) return read_metaspace(r, v);
    if (tokenizer_json_is(v, "Split")) return read_split(r, v);
    if (tokenizer_json_is(v, "Whitespace"))
        return add_split(r, (struct split_step){.kind = SPLIT_WORDS, .behaviour = SPLIT_REMOVED, .invert = true});
    if (tokenizer_json_is(v, "CharDelimiterSplit")) {
        struct split_step step = {.kind = SPLIT_TEXT, .behaviour = SPLIT_REMOVED};
        TRY(tokenizer_json_text(r, v, "pre_tokenizer", "delimiter", &step.text, &step.n));
        return add_split(r, step);
    }
    return unsupported(r, "pre_tokenizer", v);
}

enum status tokenizer_json_pretokenizer(struct tokenizer_json *r, yyjson_val *v) {
    r->source.split_by_steps = true;
    r->source.split_steps = r->split;
    TRY(read_pretokenizer(r, v, 0));
    r->source.plain_vocabulary = !r->byte_level;
    return STATUS_OK;
}

// --- decoder ---

static enum status add_decode(struct tokenizer_json *r, struct decode_step step) {
    if (r->source.n_decode_steps == TOKENIZER_JSON_STEPS_MAX) return too_many(r, "decoder");
    r->decode[r->source.n_decode_steps++] = step;
    return STATUS_OK;
}

static enum status read_replace_decoder(struct tokenizer_json *r, yyjson_val *v) {
    struct decode_step step = {.kind = DECODE_REPLACE};
    bool regex;
    TRY(read_pattern(r, v, "decoder.pattern", &regex, &step.text, &step.n));
    if (regex) return err_set(r->e, STATUS_UNSUPPORTED, "a regular expression in the decoder Replace is not supported");
    TRY(tokenizer_json_text(r, v, "decoder", "content", &step.with, &step.n_with));
    return add_decode(r, step);
}

static enum status read_word_decoder(struct tokenizer_json *r, yyjson_val *v) {
    struct decode_step step = {.kind = DECODE_WORDPIECE};
    TRY(tokenizer_json_text(r, v, "decoder", "prefix", &step.text, &step.n));
    TRY(tokenizer_json_flag(r, v, "decoder", "cleanup", true, &step.cleanup));
    return add_decode(r, step);
}

static enum status read_edge_decoder(struct tokenizer_json *r, yyjson_val *v) {
    struct decode_step step = {.kind = DECODE_STRIP};
    if (tokenizer_json_is(v, "Strip")) {
        TRY(tokenizer_json_text(r, v, "decoder", "content", &step.text, &step.n));
        TRY(tokenizer_json_number(r, v, "decoder", "start", 0, &step.start));
        TRY(tokenizer_json_number(r, v, "decoder", "stop", 0, &step.stop));
    } else if (tokenizer_json_is(v, "Metaspace")) {
        enum split_prepend prepend;
        step.kind = DECODE_METASPACE;
        TRY(tokenizer_json_text(r, v, "decoder", "replacement", &step.text, &step.n));
        TRY(read_prepend(r, v, &prepend));
        step.drop_first = prepend != SPLIT_PREPEND_NEVER;
    } else {
        step.kind = DECODE_BPE;
        TRY(tokenizer_json_text(r, v, "decoder", "suffix", &step.text, &step.n));
    }
    return add_decode(r, step);
}

static enum status read_decoder(struct tokenizer_json *r, yyjson_val *v, int depth) {
    if (tokenizer_json_is(v, "Sequence")) {
        yyjson_val *steps = yyjson_obj_get(v, "decoders"), *step;
        size_t i, n;
        if (!yyjson_is_arr(steps) || depth == NESTING_MAX) return unsupported(r, "decoder", v);
        yyjson_arr_foreach(steps, i, n, step) TRY(read_decoder(r, step, depth + 1));
        return STATUS_OK;
    }
    if (tokenizer_json_is(v, "ByteLevel")) return add_decode(r, (struct decode_step){.kind = DECODE_BYTE_LEVEL});
    if (tokenizer_json_is(v, "ByteFallback")) return add_decode(r, (struct decode_step){.kind = DECODE_BYTE_FALLBACK});
    if (tokenizer_json_is(v, "Fuse")) return add_decode(r, (struct decode_step){.kind = DECODE_FUSE});
    if (tokenizer_json_is(v, "Replace")) return read_replace_decoder(r, v);
    if (tokenizer_json_is(v, "WordPiece")) return read_word_decoder(r, v);
    if (tokenizer_json_is(v, "Strip") || tokenizer_json_is(v, "Metaspace") || tokenizer_json_is(v, "BPEDecoder"))
        return read_edge_decoder(r, v);
    return unsupported(r, "decoder", v);
}

enum status tokenizer_json_decoder(struct tokenizer_json *r, yyjson_val *v) {
    r->source.decode_steps = r->decode;
    if (tokenizer_json_absent(v) && r->source.plain_vocabulary) return STATUS_OK;
    return read_decoder(r, v, 0);
}
