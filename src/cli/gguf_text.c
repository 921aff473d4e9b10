// GGUF metadata to a tokenizer source.
#include "cli/gguf_text.h"

#include "base/arena.h"

#include <string.h>

#define KEY "tokenizer.ggml."

// Values of tokenizer.ggml.token_type that mark added tokens.
enum { TOKEN_TYPE_CONTROL = 3, TOKEN_TYPE_USER_DEFINED = 4 };

enum { SOURCE_BYTES_MAX = 1 << 30 };

// What llama.cpp's names of pre-tokenizers stand for in the published tokenizer.json files.
static const struct pre_row {
    const char *name;
    enum pretokenizer pretokenizer;
    enum normalizer normalizer;
    bool ignore_merges, add_bos;
} pre_rows[] = {
    {"gpt-2", PRETOKENIZER_GPT2, NORMALIZER_NONE, false, false},
    {"gpt2", PRETOKENIZER_GPT2, NORMALIZER_NONE, false, false},
    {"smollm", PRETOKENIZER_SMOLLM, NORMALIZER_NONE, false, false},
    {"llama-bpe", PRETOKENIZER_LLAMA3, NORMALIZER_NONE, true, true},
    {"llama3", PRETOKENIZER_LLAMA3, NORMALIZER_NONE, true, true},
    {"llama-v3", PRETOKENIZER_LLAMA3, NORMALIZER_NONE, true, true},
    {"qwen2", PRETOKENIZER_QWEN2, NORMALIZER_NFC, false, false},
    {"deepseek-r1-qwen", PRETOKENIZER_QWEN2, NORMALIZER_NFC, false, false},
};

static enum status find_pre(const struct config *c, const struct pre_row **out, struct err *e) {
    const char *model, *name;
    size_t n;
    TRY(config_text(c, KEY "model", &model, &n, e));
    if (strcmp(model, "gpt2") != 0) {
        return err_set(e, STATUS_UNSUPPORTED, "%s: " KEY "model %s is not supported; byte-level BPE (gpt2) is",
                       config_file(c), model);
    }
    TRY(config_text(c, KEY "pre", &name, &n, e));
    for (size_t i = 0; i < sizeof pre_rows / sizeof pre_rows[0]; i++) {
        if (strcmp(name, pre_rows[i].name) != 0) continue;
        *out = &pre_rows[i];
        return STATUS_OK;
    }
    return err_set(e, STATUS_UNSUPPORTED, "%s: " KEY "pre %s is not supported", config_file(c), name);
}

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

static enum status build(const struct config *c, struct arena *a, struct tokenizer **out, struct err *e) {
    struct tokenizer_source s = {0};
    const struct pre_row *pre = NULL;
    TRY(find_pre(c, &pre, e));
    s.pretokenizer = pre->pretokenizer;
    s.normalizer = pre->normalizer;
    s.ignore_merges = pre->ignore_merges;
    TRY(optional_bool(c, KEY "add_space_prefix", &s.add_prefix_space, e));
    TRY(fill_tokens(c, a, &s, e));
    TRY(fill_merges(c, a, &s, e));
    int32_t before, after;
    TRY(fill_edge(c, KEY "add_bos_token", KEY "bos_token_id", pre->add_bos, &before, &s.n_before, e));
    TRY(fill_edge(c, KEY "add_eos_token", KEY "eos_token_id", false, &after, &s.n_after, e));
    s.before = &before;
    s.after = &after;
    enum status status = tokenizer_new(&s, out, e);
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
