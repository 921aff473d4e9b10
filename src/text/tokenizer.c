// The tokenizer: built once out of its source, then asked by many threads.
#include "text/tokenizer_parts.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

void ids_fini(struct ids *ids) {
    mem_free(ids->at);
    *ids = (struct ids){0};
}

enum status ids_push(struct ids *ids, int32_t id, struct err *e) {
    if (ids->n == ids->cap) {
        size_t cap = ids->cap ? 2 * ids->cap : 64;
        int32_t *at = mem_resize(ids->at, cap, sizeof *at);
        if (!at) return err_set(e, STATUS_NO_MEMORY, "no memory for %zu token ids", cap);
        ids->at = at;
        ids->cap = cap;
    }
    ids->at[ids->n++] = id;
    return STATUS_OK;
}

// --- building ---

enum { SHOWN = 80 };
static int shown(size_t n) { return n < SHOWN ? (int)n : SHOWN; }

static enum status check_added(const struct tokenizer_source *s, struct err *e) {
    for (size_t i = 0; i < s->n_added; i++) {
        const struct added_token *a = &s->added[i];
        if (a->id < 0 || a->id >= VOCABULARY_IDS_MAX)
            return err_set(e, STATUS_INVALID, "added token \"%.*s\" has the id %d", shown(a->n), a->text, a->id);
        if (!utf8_valid(a->text, a->n))
            return err_set(e, STATUS_INVALID, "added token %d is no valid UTF-8", a->id);
        if ((size_t)a->id >= s->n_tokens || !s->tokens[a->id]) continue;
        if (s->token_bytes[a->id] != a->n || memcmp(s->tokens[a->id], a->text, a->n) != 0)
            return err_set(e, STATUS_INVALID,
                           "added token \"%.*s\" has the id %d, which the vocabulary gives to \"%.*s\"", shown(a->n),
                           a->text, a->id, shown(s->token_bytes[a->id]), s->tokens[a->id]);
    }
    return STATUS_OK;
}

// The model's tokens and the added ones in one vocabulary.
static enum status init_vocabulary(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    size_t n_ids = s->n_tokens;
    TRY(check_added(s, e));
    for (size_t i = 0; i < s->n_added; i++)
        if ((size_t)s->added[i].id >= n_ids) n_ids = (size_t)s->added[i].id + 1;
    const char **tokens = mem_new(n_ids, sizeof *tokens);
    size_t *bytes = mem_new(n_ids, sizeof *bytes);
    enum status status = STATUS_OK;
    if (!tokens || !bytes) status = err_set(e, STATUS_NO_MEMORY, "no memory for a vocabulary of %zu ids", n_ids);
    if (status == STATUS_OK && s->n_tokens) {
        memcpy(tokens, s->tokens, s->n_tokens * sizeof *tokens);
        memcpy(bytes, s->token_bytes, s->n_tokens * sizeof *bytes);
    }
    for (size_t i = 0; i < s->n_added && status == STATUS_OK; i++) {
        int32_t id = s->added[i].id;
        if (tokens[id] && ((size_t)id >= s->n_tokens || !s->tokens[id]))
            status = err_set(e, STATUS_INVALID, "two added tokens have the id %d", id);
        tokens[id] = s->added[i].text;
        bytes[id] = s->added[i].n;
    }
    if (status == STATUS_OK) status = vocabulary_init(&t->vocabulary, tokens, bytes, n_ids, s->plain_vocabulary, e);
    for (size_t i = 0; i < s->n_added && status == STATUS_OK; i++) {
        size_t id = (size_t)s->added[i].id;
        if (id >= s->n_tokens || !s->tokens[id]) t->vocabulary.flags[id] |= VOCABULARY_ADDED;
        if (s->added[i].special) t->vocabulary.flags[id] |= VOCABULARY_SPECIAL;
    }
    mem_free(tokens);
    mem_free(bytes);
    return status;
}

// The added tokens whose `normalized` flag is as asked for; special ones come first, as `tokenizers` has it.
static size_t select_added(const struct tokenizer_source *s, bool normalized, struct added_token *out) {
    size_t n = 0;
    for (int special = 1; special >= 0; special--)
        for (size_t i = 0; i < s->n_added; i++)
            if (s->added[i].normalized == normalized && s->added[i].special == special) out[n++] = s->added[i];
    return n;
}

static int by_id(const void *a, const void *b) {
    const struct added_token *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

// `tokenizers` decodes a token that is looked for in normalized text to its normalized text: keeps those that differ.
static enum status keep_respelled(struct tokenizer *t, const struct added_token *token, const char *text, size_t n,
                                  struct err *e) {
    if (n == token->n && memcmp(text, token->text, n) == 0) return STATUS_OK;
    char *copy = mem_string(text, n);
    if (!copy) return err_set(e, STATUS_NO_MEMORY, "no memory for the added token %d", token->id);
    t->respelled[t->n_respelled++] = (struct added_token){.text = copy, .n = n, .id = token->id};
    t->vocabulary.flags[token->id] |= VOCABULARY_RESPELLED;
    return STATUS_OK;
}

// Texts of tokens that are looked for in normalized text are normalized too; they then lie in `texts`.
static enum status normalize_added(struct tokenizer *t, struct added_token *tokens, size_t n, struct buf *texts,
                                   struct err *e) {
    struct normalize_scratch scratch = {0};
    enum status status = STATUS_OK;
    t->respelled = mem_new(n, sizeof *t->respelled);
    if (!t->respelled) return err_set(e, STATUS_NO_MEMORY, "no memory for %zu added tokens", n);
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        const char *text;
        size_t n_text;
        status = normalize_run(&t->normalizer, &scratch, tokens[i].text, tokens[i].n, &text, &n_text, e);
        if (status != STATUS_OK) break;
        buf_append(texts, text, n_text);
        status = keep_respelled(t, &tokens[i], text, n_text, e);
        tokens[i].n = n_text;
    }
    normalize_scratch_fini(&scratch);
    if (status == STATUS_OK && texts->failed != STATUS_OK)
        status = err_set(e, texts->failed, "no memory for %zu added tokens", n);
    for (size_t i = 0, at = 0; i < n && status == STATUS_OK; at += tokens[i++].n) tokens[i].text = texts->data + at;
    if (t->n_respelled) qsort(t->respelled, t->n_respelled, sizeof *t->respelled, by_id);
    return status;
}

static enum status init_added(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    struct added_token *tokens = mem_new(s->n_added, sizeof *tokens);
    if (!tokens) return err_set(e, STATUS_NO_MEMORY, "no memory for %zu added tokens", s->n_added);
    struct buf texts;
    buf_init(&texts, SIZE_MAX / 2);
    size_t n = select_added(s, false, tokens);
    enum status status = added_matcher_init(&t->raw, tokens, n, e);
    if (status == STATUS_OK) {
        n = select_added(s, true, tokens);
        if (t->normalizer.n) status = normalize_added(t, tokens, n, &texts, e);
    }
    if (status == STATUS_OK) status = added_matcher_init(&t->normalized, tokens, n, e);
    buf_fini(&texts);
    mem_free(tokens);
    return status;
}

static enum status copy_ids(const struct tokenizer *t, const int32_t *ids, size_t n, struct ids *out, struct err *e) {
    for (size_t i = 0; i < n; i++) {
        size_t bytes;
        if (!tokenizer_bytes(t, ids[i], &bytes))
            return err_set(e, STATUS_INVALID, "the id %d that goes round a text is no token", ids[i]);
        TRY(ids_push(out, ids[i], e));
    }
    return STATUS_OK;
}

// Has every byte that stands in UTF-8 text a token?
static bool knows_all_bytes(const struct tokenizer *t) {
    for (int c = 0; c < 0xf5; c++)
        if (t->bpe.of_byte[c] < 0 && c != 0xc0 && c != 0xc1) return false;
    return true;
}

static enum status init_bpe(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    TRY(bpe_init(&t->bpe, &t->vocabulary, s, e));
    if (s->plain_vocabulary || knows_all_bytes(t)) return STATUS_OK;
    if (s->byte_fallback) // the bytes would be those of the byte alphabet's characters
        return err_set(e, STATUS_UNSUPPORTED, "a byte has no token, and byte_fallback is not supported for such bytes");
    return STATUS_OK;
}

static enum status init_model(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    size_t n;
    t->model = s->model;
    t->unknown = s->has_unknown ? s->unknown : -1;
    if (s->has_unknown && !tokenizer_bytes(t, s->unknown, &n))
        return err_set(e, STATUS_INVALID, "the unknown token has the id %d, which is no token", s->unknown);
    if (s->model != TOKENIZER_BPE && !s->plain_vocabulary)
        return err_set(e, STATUS_UNSUPPORTED, "ByteLevel is supported with BPE only");
    if (s->model == TOKENIZER_WORDPIECE) return wordpiece_init(&t->wordpiece, &t->vocabulary, s, e);
    if (s->model == TOKENIZER_UNIGRAM) return unigram_init(&t->unigram, &t->vocabulary, s, e);
    return init_bpe(t, s, e);
}

static enum status init_normalizer(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    static const struct normalize_step nfc = {.kind = NORMALIZE_NFC};
    if (s->normalizer == NORMALIZER_NFC) return normalize_init(&t->normalizer, &nfc, 1, e);
    return normalize_init(&t->normalizer, s->normalize_steps, s->n_normalize_steps, e);
}

// A chain that is known by hand needs no steps; with GPT-2's a blank may be put before the text.
static enum status init_pretokenizer(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    t->pretokenizer = s->pretokenizer;
    t->add_prefix_space = s->add_prefix_space;
    if (s->split_by_steps) {
        bool space = s->n_split_steps && s->split_steps[0].kind == SPLIT_PREFIX_SPACE;
        t->pretokenizer = split_known(s->split_steps + space, s->n_split_steps - space);
        t->add_prefix_space = space;
        if (t->pretokenizer == PRETOKENIZER_GPT2 || (!space && t->pretokenizer != PRETOKENIZER_COUNT)) return STATUS_OK;
        t->pretokenizer = PRETOKENIZER_COUNT;
        t->add_prefix_space = false;
        return split_init(&t->chain, s->split_steps, s->n_split_steps, e);
    }
    if (s->add_prefix_space && s->pretokenizer != PRETOKENIZER_GPT2)
        return err_set(e, STATUS_UNSUPPORTED, "add_prefix_space is supported with GPT-2's pre-tokenizer only");
    return STATUS_OK;
}

const char *tokenizer_decoded_token(const struct tokenizer *t, int32_t id, size_t *n) {
    const struct vocabulary *v = &t->vocabulary;
    const struct added_token *found = NULL, wanted = {.id = id};
    if (v->flags[id] & VOCABULARY_RESPELLED)
        found = bsearch(&wanted, t->respelled, t->n_respelled, sizeof wanted, by_id);
    *n = found ? found->n : v->begin[id + 1] - v->begin[id];
    return found ? found->text : v->bytes + v->begin[id];
}

static void decode_id(struct tokenizer *t, int32_t id, unsigned place, struct buf *out) {
    size_t n;
    bool byte = false, verbatim;
    const char *token = tokenizer_decoded_token(t, id, &n);
    if (!t->decoder.byte_level) {
        decode_token(&t->decoder, token, n, place, out, &byte);
    } else if (t->vocabulary.flags[id] & VOCABULARY_RESPELLED) {
        char *bytes = buf_reserve(out, n);
        if (bytes) out->n += vocabulary_from_alphabet(token, n, bytes, &verbatim);
    } else {
        buf_append(out, token, n);
    }
    if (byte) t->vocabulary.flags[id] |= VOCABULARY_BYTE;
}

static enum status decode_all(struct tokenizer *t, unsigned place, struct decoded_texts *out, struct err *e) {
    const struct vocabulary *v = &t->vocabulary;
    struct buf all;
    buf_init(&all, UINT32_MAX);
    out->begin = mem_new(v->n_ids + 1, sizeof *out->begin);
    for (size_t i = 0; i < v->n_ids && out->begin; i++) {
        if (v->flags[i] & VOCABULARY_KNOWN) decode_id(t, (int32_t)i, place, &all);
        out->begin[i + 1] = (uint32_t)all.n;
    }
    out->bytes = all.data;
    if (out->begin && all.failed == STATUS_OK) return STATUS_OK;
    return err_set(e, STATUS_NO_MEMORY, "no memory for the texts of %zu ids", v->n_ids);
}

static enum status init_decoded(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    struct vocabulary *v = &t->vocabulary;
    TRY(decode_init(&t->decoder, s->decode_steps, s->n_decode_steps, v->plain, e));
    if (v->plain == t->decoder.byte_level)
        return err_set(e, STATUS_UNSUPPORTED, "the decoder does not go with the vocabulary: ByteLevel needs both");
    if (!t->decoder.byte_level) TRY(decode_all(t, DECODE_FIRST, &t->first, e));
    return t->decoder.byte_level && t->n_respelled == 0 ? STATUS_OK : decode_all(t, 0, &t->decoded, e);
}

static enum status init(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    TRY(init_normalizer(t, s, e));
    TRY(init_pretokenizer(t, s, e));
    TRY(init_vocabulary(t, s, e));
    TRY(init_model(t, s, e));
    TRY(init_added(t, s, e));
    TRY(copy_ids(t, s->before, s->n_before, &t->before, e));
    TRY(copy_ids(t, s->after, s->n_after, &t->after, e));
    return init_decoded(t, s, e);
}

enum status tokenizer_new(const struct tokenizer_source *source, struct tokenizer **out, struct err *e) {
    struct tokenizer *t = mem_new(1, sizeof *t);
    if (!t) return err_set(e, STATUS_NO_MEMORY, "no memory for a tokenizer");
    enum status status = init(t, source, e);
    if (status != STATUS_OK) {
        tokenizer_free(t);
        return status;
    }
    *out = t;
    return STATUS_OK;
}

void tokenizer_free(struct tokenizer *t) {
    if (!t) return;
    vocabulary_fini(&t->vocabulary);
    normalize_fini(&t->normalizer);
    split_fini(&t->chain);
    bpe_fini(&t->bpe);
    unigram_fini(&t->unigram);
    decode_fini(&t->decoder);
    for (size_t i = 0; i < t->n_respelled; i++) mem_free((char *)t->respelled[i].text);
    mem_free(t->respelled);
    struct decoded_texts *const texts[] = {&t->decoded, &t->first};
    for (size_t i = 0; i < 2; i++) {
        mem_free(texts[i]->bytes);
        mem_free(texts[i]->begin);
    }
    added_matcher_fini(&t->raw);
    added_matcher_fini(&t->normalized);
    ids_fini(&t->before);
    ids_fini(&t->after);
    mem_free(t);
}

// --- asking ---

size_t tokenizer_n_ids(const struct tokenizer *t) { return t->vocabulary.n_ids; }

int32_t tokenizer_find(const struct tokenizer *t, const char *token, size_t n) {
    return vocabulary_find_written(&t->vocabulary, token, n);
}

bool tokenizer_is_special(const struct tokenizer *t, int32_t id) {
    return id >= 0 && (size_t)id < t->vocabulary.n_ids && t->vocabulary.flags[id] & VOCABULARY_SPECIAL;
}

static const char *bytes_of(const struct tokenizer *t, int32_t id, const struct decoded_texts *texts, size_t *n) {
    const struct vocabulary *v = &t->vocabulary;
    if (id < 0 || (size_t)id >= v->n_ids || !(v->flags[id] & VOCABULARY_KNOWN)) return NULL;
    const char *bytes = texts->begin ? texts->bytes : v->bytes;
    const uint32_t *begin = texts->begin ? texts->begin : v->begin;
    *n = begin[id + 1] - begin[id];
    return bytes ? bytes + begin[id] : "";
}

const char *tokenizer_bytes(const struct tokenizer *t, int32_t id, size_t *n) {
    return bytes_of(t, id, &t->decoded, n);
}

const char *tokenizer_first_bytes(const struct tokenizer *t, int32_t id, size_t *n) {
    return bytes_of(t, id, t->first.begin ? &t->first : &t->decoded, n);
}
