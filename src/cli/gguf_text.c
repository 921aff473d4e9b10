// GGUF metadata to a tokenizer source.
#include "cli/gguf_text.h"

#include "base/arena.h"
#include "cli/gguf_pre.h"
#include "text/decode.h"
#include "text/merges.h"
#include "text/normalize.h"
#include "text/unicode.h"

#include <string.h>

#define KEY "tokenizer.ggml."

// Values of tokenizer.ggml.token_type that mark added tokens.
enum { TOKEN_TYPE_CONTROL = 3, TOKEN_TYPE_USER_DEFINED = 4 };

enum { SOURCE_BYTES_MAX = 1 << 30 };

static enum status no_memory(const struct config *c, struct err *e) {
    return err_set(e, STATUS_NO_MEMORY, "%s: no memory for the tokenizer's tables", config_file(c));
}

static bool is_added(uint64_t type) { return type == TOKEN_TYPE_CONTROL || type == TOKEN_TYPE_USER_DEFINED; }

// Tokens, and among them the added ones.
static enum status fill_tokens(const struct config *c, struct arena *a, struct tokenizer_source *s, struct err *e) {
    size_t n;
    TRY(config_n(c, KEY "tokens", &n, e));
    if (config_has(c, KEY "token_type")) {
        size_t n_types;
        TRY(config_n(c, KEY "token_type", &n_types, e));
        if (n_types != n) {
            return err_set(e, STATUS_INVALID, "%s: " KEY "token_type has %zu entries for %zu tokens", config_file(c),
                           n_types, n);
        }
    }
    const char **texts = arena_new(a, n, sizeof *texts);
    size_t *bytes = arena_new(a, n, sizeof *bytes);
    struct added_token *added = arena_new(a, n, sizeof *added);
    if (!texts || !bytes || !added) return no_memory(c, e);
    bool typed = config_has(c, KEY "token_type");
    for (size_t i = 0; i < n; i++) {
        uint64_t type = 0;
        const char *text;
        TRY(config_text_at(c, KEY "tokens", i, &text, &bytes[i], e));
        if (typed) TRY(config_u64_at(c, KEY "token_type", i, &type, e));
        if (is_added(type)) {
            added[s->n_added++] = (struct added_token){
                .text = text, .n = bytes[i], .id = (int32_t)i, .special = type == TOKEN_TYPE_CONTROL};
        } else {
            texts[i] = text;
        }
    }
    s->tokens = texts;
    s->token_bytes = bytes;
    s->n_tokens = n;
    s->added = added;
    return STATUS_OK;
}

static enum status fill_merges(const struct config *c, struct arena *a, struct tokenizer_source *s, struct err *e) {
    size_t n;
    TRY(config_n(c, KEY "merges", &n, e));
    const char **texts = arena_new(a, n, sizeof *texts);
    size_t *bytes = arena_new(a, n, sizeof *bytes), *splits = arena_new(a, n, sizeof *splits);
    if (!texts || !bytes || !splits) return no_memory(c, e);
    for (size_t i = 0; i < n; i++) {
        TRY(config_text_at(c, KEY "merges", i, &texts[i], &bytes[i], e));
        const char *space = bytes[i] > 1 ? memchr(texts[i] + 1, ' ', bytes[i] - 1) : NULL;
        if (!space) {
            return err_set(e, STATUS_INVALID, "%s: " KEY "merges, entry %zu is no pair", config_file(c), i);
        }
        splits[i] = (size_t)(space - texts[i]);
    }
    s->merges = texts;
    s->merge_bytes = bytes;
    s->merge_split = splits;
    s->n_merges = n;
    return STATUS_OK;
}

static enum status optional_bool(const struct config *c, const char *key, bool *value, struct err *e) {
    return config_has(c, key) ? config_bool(c, key, value, e) : STATUS_OK;
}

// The id that stands before or after a text when `flag_key` says so.
static enum status fill_edge(const struct config *c, const char *flag_key, const char *id_key, bool on, int32_t *id,
                             size_t *n, struct err *e) {
    TRY(optional_bool(c, flag_key, &on, e));
    if (on) TRY(config_ids(c, id_key, id, 1, n, e));
    return STATUS_OK;
}

// Metadata on its way to a tokenizer.
struct work {
    const struct config *c;
    struct arena *a;
    struct tokenizer_source s;
    bool add_bos, add_eos; // what the model does when no key says so
    const char *bos_key, *eos_key;
    struct err *e;
};

static const char space_mark[] = "\xe2\x96\x81"; // U+2581, which SentencePiece writes for a blank
enum { SPACE_MARK_BYTES = sizeof space_mark - 1 };

static enum status read_scores(struct work *w, double **out) {
    size_t n;
    TRY(config_n(w->c, KEY "scores", &n, w->e));
    if (n != w->s.n_tokens) {
        return err_set(w->e, STATUS_INVALID, "%s: " KEY "scores has %zu entries for %zu tokens", config_file(w->c), n,
                       w->s.n_tokens);
    }
    *out = arena_new(w->a, n, sizeof **out);
    if (!*out) return no_memory(w->c, w->e);
    for (size_t i = 0; i < n; i++) TRY(config_f64_at(w->c, KEY "scores", i, &(*out)[i], w->e));
    return STATUS_OK;
}

static enum status read_unknown(struct work *w) {
    size_t n = 0;
    TRY(config_ids(w->c, KEY "unknown_token_id", &w->s.unknown, 1, &n, w->e));
    w->s.has_unknown = n > 0;
    return STATUS_OK;
}

// --- gpt2: byte-level BPE ---

static enum status build_byte_level(struct work *w) {
    const char *name = "default";
    size_t n;
    if (config_has(w->c, KEY "pre")) TRY(config_text(w->c, KEY "pre", &name, &n, w->e));
    const struct gguf_pre *pre = gguf_pre_find(name);
    if (!pre) {
        return err_set(w->e, STATUS_UNSUPPORTED, "%s: " KEY "pre %s is not supported", config_file(w->c), name);
    }
    w->s.pretokenizer = pre->pretokenizer;
    w->s.split_by_steps = pre->n_steps > 0;
    w->s.split_steps = pre->steps;
    w->s.n_split_steps = pre->n_steps;
    w->s.normalizer = pre->normalizer;
    w->s.ignore_merges = pre->ignore_merges;
    w->add_bos = pre->add_bos;
    TRY(optional_bool(w->c, KEY "add_space_prefix", &w->s.add_prefix_space, w->e));
    return fill_merges(w->c, w->a, &w->s, w->e);
}

// --- llama, gemma4: BPE over characters, blanks written as U+2581, bytes for what has no token ---

static const struct normalize_step mark_spaces[] = {
    {.kind = NORMALIZE_PREPEND, .with = space_mark, .n_with = SPACE_MARK_BYTES},
    {.kind = NORMALIZE_REPLACE, .text = " ", .n = 1, .with = space_mark, .n_with = SPACE_MARK_BYTES}};

static const struct decode_step unmark_spaces[] = {
    {.kind = DECODE_REPLACE, .text = space_mark, .n = SPACE_MARK_BYTES, .with = " ", .n_with = 1},
    {.kind = DECODE_BYTE_FALLBACK},
    {.kind = DECODE_FUSE},
    {.kind = DECODE_STRIP, .text = " ", .n = 1, .start = 1}};

static enum status build_sentencepiece(struct work *w, bool prefix) {
    TRY(optional_bool(w->c, KEY "add_space_prefix", &prefix, w->e));
    TRY(read_unknown(w));
    w->s.plain_vocabulary = w->s.split_by_steps = w->s.byte_fallback = w->s.fuse_unknown = true;
    w->s.normalize_steps = mark_spaces + !prefix;
    w->s.n_normalize_steps = prefix ? 2 : 1;
    w->s.decode_steps = unmark_spaces;
    w->s.n_decode_steps = prefix ? 4 : 3;
    w->add_bos = true;
    if (config_has(w->c, KEY "merges")) return fill_merges(w->c, w->a, &w->s, w->e);
    double *scores;
    TRY(read_scores(w, &scores));
    return merges_from_scores(scores, w->a, &w->s, w->e);
}

// --- bert: WordPiece ---

static const struct split_step words_and_marks[] = {
    {.kind = SPLIT_CLASS, .classes = UNICODE_SPACE, .behaviour = SPLIT_REMOVED},
    {.kind = SPLIT_CLASS, .classes = UNICODE_PUNCTUATION_MARK}};

static const struct normalize_step bert_cased[] = {{.kind = NORMALIZE_BERT_CLEAN}, {.kind = NORMALIZE_BERT_CHINESE}};
static const struct normalize_step bert_lower[] = {{.kind = NORMALIZE_BERT_CLEAN},
                                                   {.kind = NORMALIZE_BERT_CHINESE},
                                                   {.kind = NORMALIZE_NFD},
                                                   {.kind = NORMALIZE_BERT_ACCENTS},
                                                   {.kind = NORMALIZE_LOWERCASE}};

static const struct decode_step join_words = {.kind = DECODE_WORDPIECE, .cleanup = true, .text = "##", .n = 2};

// The file marks tokens that begin a word; the published vocabularies mark those that continue one, with ##.
static enum status restore_words(struct work *w) {
    const char **texts = arena_new(w->a, w->s.n_tokens, sizeof *texts);
    size_t *bytes = arena_new(w->a, w->s.n_tokens, sizeof *bytes);
    if (!texts || !bytes) return no_memory(w->c, w->e);
    for (size_t i = 0; i < w->s.n_tokens; i++) {
        const char *text = w->s.tokens[i];
        size_t n = w->s.token_bytes[i];
        texts[i] = text;
        bytes[i] = n;
        if (!text || (n > 1 && text[0] == '[' && text[n - 1] == ']')) continue;
        bool begins = n >= SPACE_MARK_BYTES && memcmp(text, space_mark, SPACE_MARK_BYTES) == 0;
        bytes[i] = begins ? n - SPACE_MARK_BYTES : n + 2;
        char *copy = arena_new(w->a, bytes[i] + 1, 1);
        if (!copy) return no_memory(w->c, w->e);
        memcpy(copy, "##", begins ? 0 : 2);
        memcpy(copy + (begins ? 0 : 2), text + (begins ? SPACE_MARK_BYTES : 0), begins ? bytes[i] : n);
        texts[i] = copy;
    }
    w->s.tokens = texts;
    w->s.token_bytes = bytes;
    return STATUS_OK;
}

static enum status build_wordpiece(struct work *w) {
    bool lower = true, accents;
    TRY(optional_bool(w->c, KEY "normalizer.lowercase", &lower, w->e));
    accents = lower;
    TRY(optional_bool(w->c, KEY "normalizer.strip_accents", &accents, w->e));
    if (accents != lower) {
        return err_set(w->e, STATUS_UNSUPPORTED,
                       "%s: " KEY "normalizer.strip_accents is not supported where it differs from lowercase",
                       config_file(w->c));
    }
    TRY(read_unknown(w));
    w->s.model = TOKENIZER_WORDPIECE;
    w->s.plain_vocabulary = w->s.split_by_steps = true;
    w->s.word_prefix = "##";
    w->s.word_chars_max = 100;
    w->s.normalize_steps = lower ? bert_lower : bert_cased;
    w->s.n_normalize_steps = lower ? 5 : 2;
    w->s.split_steps = words_and_marks;
    w->s.n_split_steps = 2;
    w->s.decode_steps = &join_words;
    w->s.n_decode_steps = 1;
    w->add_bos = w->add_eos = true;
    w->bos_key = KEY "cls_token_id";
    w->eos_key = KEY "seperator_token_id"; // as it is spelled there
    return restore_words(w);
}

// --- t5: Unigram ---

static enum status read_char_map(struct work *w, struct normalize_step *out) {
    size_t n;
    TRY(config_n(w->c, KEY "precompiled_charsmap", &n, w->e));
    char *bytes = arena_new(w->a, n, 1);
    if (!bytes) return no_memory(w->c, w->e);
    for (size_t i = 0; i < n; i++) {
        uint64_t byte;
        TRY(config_u64_at(w->c, KEY "precompiled_charsmap", i, &byte, w->e));
        bytes[i] = (char)byte;
    }
    *out = (struct normalize_step){.kind = NORMALIZE_PRECOMPILED, .text = bytes, .n = n};
    return STATUS_OK;
}

static enum status build_unigram(struct work *w) {
    bool prefix = true, squeeze = true;
    double *scores;
    TRY(optional_bool(w->c, KEY "add_space_prefix", &prefix, w->e));
    TRY(optional_bool(w->c, KEY "remove_extra_whitespaces", &squeeze, w->e));
    TRY(read_unknown(w));
    TRY(read_scores(w, &scores));
    struct split_step *split = arena_new(w->a, 3, sizeof *split);
    struct normalize_step *normalize = arena_new(w->a, 1, sizeof *normalize);
    struct decode_step *decode = arena_new(w->a, 1, sizeof *decode);
    if (!split || !normalize || !decode) return no_memory(w->c, w->e);
    if (config_has(w->c, KEY "precompiled_charsmap")) {
        TRY(read_char_map(w, normalize));
        w->s.n_normalize_steps = 1;
    }
    split[0] = (struct split_step){.kind = SPLIT_CLASS, .classes = UNICODE_SPACE, .behaviour = SPLIT_REMOVED};
    split[1] = (struct split_step){.kind = SPLIT_METASPACE, .text = space_mark, .n = SPACE_MARK_BYTES,
                                   .prepend = prefix ? SPLIT_PREPEND_ALWAYS : SPLIT_PREPEND_NEVER};
    split[2] = (struct split_step){
        .kind = SPLIT_TEXT, .behaviour = SPLIT_MERGED_WITH_NEXT, .text = space_mark, .n = SPACE_MARK_BYTES};
    *decode = (struct decode_step){
        .kind = DECODE_METASPACE, .drop_first = prefix, .text = space_mark, .n = SPACE_MARK_BYTES};
    w->s.model = TOKENIZER_UNIGRAM;
    w->s.plain_vocabulary = w->s.split_by_steps = true;
    w->s.scores = scores;
    w->s.normalize_steps = normalize;
    w->s.split_steps = split + !squeeze;
    w->s.n_split_steps = squeeze ? 3 : 2;
    w->s.decode_steps = decode;
    w->s.n_decode_steps = 1;
    w->add_eos = true;
    return STATUS_OK;
}

static enum status build_model(struct work *w) {
    const char *model;
    size_t n;
    TRY(config_text(w->c, KEY "model", &model, &n, w->e));
    if (strcmp(model, "gpt2") == 0) return build_byte_level(w);
    if (strcmp(model, "llama") == 0) return build_sentencepiece(w, true);
    if (strcmp(model, "gemma4") == 0) return build_sentencepiece(w, false);
    if (strcmp(model, "bert") == 0) return build_wordpiece(w);
    if (strcmp(model, "t5") == 0) return build_unigram(w);
    return err_set(w->e, STATUS_UNSUPPORTED, "%s: " KEY "model %s is not supported; gpt2, llama, gemma4, bert, t5 are",
                   config_file(w->c), model);
}

static enum status build(const struct config *c, struct arena *a, struct tokenizer **out, struct err *e) {
    struct work w = {.c = c, .a = a, .e = e, .bos_key = KEY "bos_token_id", .eos_key = KEY "eos_token_id"};
    TRY(fill_tokens(c, a, &w.s, e));
    TRY(build_model(&w));
    int32_t before, after;
    TRY(fill_edge(c, KEY "add_bos_token", w.bos_key, w.add_bos, &before, &w.s.n_before, e));
    TRY(fill_edge(c, KEY "add_eos_token", w.eos_key, w.add_eos, &after, &w.s.n_after, e));
    w.s.before = &before;
    w.s.after = &after;
    enum status status = tokenizer_new(&w.s, out, e);
    if (status != STATUS_OK) err_prefix(e, "%s", config_file(c));
    return status;
}

enum status gguf_text_tokenizer(const struct config *metadata, struct tokenizer **out, struct err *e) {
    struct arena a;
    arena_init(&a, SOURCE_BYTES_MAX);
    enum status s = build(metadata, &a, out, e);
    arena_fini(&a);
    return s;
}

enum status gguf_text_token(const struct config *metadata, const char *id_key, const char **text, size_t *n,
                            struct err *e) {
    *text = "";
    *n = 0;
    if (!config_has(metadata, id_key)) return STATUS_OK;
    uint64_t id;
    TRY(config_u64(metadata, id_key, &id, e));
    return config_text_at(metadata, KEY "tokens", (size_t)id, text, n, e);
}
