// The tokenizer: added tokens are cut out, the text between is normalized, cut into pieces and merged.
#include "text/tokenizer.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/nfc.h"
#include "text/pretokenize.h"
#include "text/vocabulary.h"

#include <string.h>

struct tokenizer {
    struct vocabulary vocabulary; // added tokens included
    struct bpe bpe;
    struct added_matcher raw;        // looked for in the text as it came
    struct added_matcher normalized; // looked for in what is left of it once normalized
    enum pretokenizer pretokenizer;
    enum normalizer normalizer;
    bool add_prefix_space;
    struct ids before, after;
};

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
    if (status == STATUS_OK) status = vocabulary_init(&t->vocabulary, tokens, bytes, n_ids, e);
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

// Texts of tokens that are looked for in normalized text are normalized too; they then lie in `texts`.
static enum status normalize_added(struct added_token *tokens, size_t n, struct buf *texts, struct err *e) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        TRY(nfc_append(tokens[i].text, tokens[i].n, texts, e));
        tokens[i].n = texts->n - at;
        at = texts->n;
    }
    at = 0;
    for (size_t i = 0; i < n; i++) {
        tokens[i].text = texts->data + at;
        at += tokens[i].n;
    }
    return STATUS_OK;
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
        if (s->normalizer == NORMALIZER_NFC) status = normalize_added(tokens, n, &texts, e);
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

// Bytes that stand in no UTF-8 text need no token.
static enum status check_bytes(const struct tokenizer *t, const char *fallback, struct err *e) {
    for (int c = 0; c < 0xf5 && fallback; c++)
        if (t->bpe.of_byte[c] < 0 && c != 0xc0 && c != 0xc1)
            return err_set(e, STATUS_UNSUPPORTED, "the byte 0x%02x has no token, and %s is not supported", (unsigned)c,
                           fallback);
    return STATUS_OK;
}

static enum status init(struct tokenizer *t, const struct tokenizer_source *s, struct err *e) {
    if (s->add_prefix_space && s->pretokenizer != PRETOKENIZER_GPT2)
        return err_set(e, STATUS_UNSUPPORTED, "add_prefix_space is supported with GPT-2's pre-tokenizer only");
    t->pretokenizer = s->pretokenizer;
    t->normalizer = s->normalizer;
    t->add_prefix_space = s->add_prefix_space;
    TRY(init_vocabulary(t, s, e));
    TRY(bpe_init(&t->bpe, &t->vocabulary, s, e));
    TRY(check_bytes(t, s->fallback, e));
    TRY(init_added(t, s, e));
    TRY(copy_ids(t, s->before, s->n_before, &t->before, e));
    return copy_ids(t, s->after, s->n_after, &t->after, e);
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
    bpe_fini(&t->bpe);
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

const char *tokenizer_bytes(const struct tokenizer *t, int32_t id, size_t *n) {
    const struct vocabulary *v = &t->vocabulary;
    if (id < 0 || (size_t)id >= v->n_ids || !(v->flags[id] & VOCABULARY_KNOWN)) return NULL;
    *n = v->begin[id + 1] - v->begin[id];
    return v->bytes + v->begin[id];
}

// --- encoding ---

// One call of tokenizer_encode.
struct encoding {
    const struct tokenizer *t;
    struct bpe_scratch scratch;
    struct buf clean;      // the text with U+FFFD for broken bytes
    struct buf normalized; // the current stretch between added tokens
    struct buf prefixed;   // a space, then such a stretch
    const char *text; // what `data` speaks of
    const struct text_span *data;
    size_t n_data;
    bool plain; // all of it is data
    struct ids *out;
    struct err *e;
};

// Does text[begin .. end) hold data? Spans are few beside bytes, but long chats have many: they are searched by halves.
static bool holds_data(const struct encoding *c, size_t begin, size_t end) {
    size_t low = 0, high = c->n_data;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->data[middle].end <= begin) low = middle + 1;
        else high = middle;
    }
    return low < c->n_data && c->data[low].begin < end;
}

// Data never yields a control token, whatever the merges lead to: such a piece is given byte by byte.
static enum status spell_out_special(struct encoding *c, const char *piece, size_t n, size_t from) {
    bool any = false;
    for (size_t i = from; i < c->out->n; i++) any = any || tokenizer_is_special(c->t, c->out->at[i]);
    if (!any) return STATUS_OK;
    c->out->n = from;
    for (size_t i = 0; i < n; i++) {
        int32_t id = c->t->bpe.of_byte[(uint8_t)piece[i]];
        if (id >= 0) TRY(ids_push(c->out, id, c->e));
    }
    return STATUS_OK;
}

// Which pieces of a stretch are data.
enum data_rule { NONE_IS_DATA, ALL_IS_DATA, JUDGE_BY_PIECE }; // the last only for a part of c->text

// A stretch that is no part of c->text any more: where some of it was data, all of it counts as data.
static enum data_rule rule_of_copy(const struct encoding *c, enum data_rule rule, const char *text, size_t n) {
    size_t origin = rule == JUDGE_BY_PIECE ? (size_t)(text - c->text) : 0;
    if (rule != JUDGE_BY_PIECE) return rule;
    return holds_data(c, origin, origin + n) ? ALL_IS_DATA : NONE_IS_DATA;
}

// Text without added tokens, normalized.
static enum status encode_pieces(struct encoding *c, const char *text, size_t n, enum data_rule rule) {
    if (c->t->add_prefix_space && n > 0 && text[0] != ' ') {
        rule = rule_of_copy(c, rule, text, n);
        buf_reset(&c->prefixed);
        buf_byte(&c->prefixed, ' ');
        buf_append(&c->prefixed, text, n);
        if (c->prefixed.failed != STATUS_OK) return err_set(c->e, c->prefixed.failed, "no memory for a text");
        text = c->prefixed.data;
        n = c->prefixed.n;
    }
    struct pretokenize p;
    size_t begin, n_piece, origin = rule == JUDGE_BY_PIECE ? (size_t)(text - c->text) : 0;
    pretokenize_begin(&p, c->t->pretokenizer, text, n);
    while (pretokenize_next(&p, &begin, &n_piece)) {
        size_t from = c->out->n;
        TRY(bpe_encode(&c->t->bpe, text + begin, n_piece, &c->scratch, c->out, c->e));
        if (rule == NONE_IS_DATA) continue;
        if (rule == JUDGE_BY_PIECE && !holds_data(c, origin + begin, origin + begin + n_piece)) continue;
        TRY(spell_out_special(c, text + begin, n_piece, from));
    }
    return STATUS_OK;
}

// Text in which the raw added tokens were found already.
static enum status encode_stretch(struct encoding *c, const char *text, size_t n) {
    enum data_rule rule = c->plain ? ALL_IS_DATA : c->n_data ? JUDGE_BY_PIECE : NONE_IS_DATA;
    size_t origin = (size_t)(text - c->text);
    if (c->t->normalizer == NORMALIZER_NFC && !nfc_quick_check(text, n)) {
        rule = rule_of_copy(c, rule, text, n);
        buf_reset(&c->normalized);
        TRY(nfc_append(text, n, &c->normalized, c->e));
        text = c->normalized.data;
        n = c->normalized.n;
    }
    if (rule == ALL_IS_DATA) return encode_pieces(c, text, n, rule);
    struct added_walk w;
    added_walk_begin(&w, &c->t->normalized, text, n);
    if (rule == JUDGE_BY_PIECE) added_walk_avoid(&w, c->data, c->n_data, origin);
    for (;;) {
        struct added_match m = added_walk_next(&w);
        TRY(encode_pieces(c, text + m.gap_begin, m.gap_end - m.gap_begin, rule));
        if (m.id < 0) return STATUS_OK;
        TRY(ids_push(c->out, m.id, c->e));
    }
}

static enum status encode_text(struct encoding *c, const char *text, size_t n) {
    c->text = text;
    if (c->plain) return encode_stretch(c, text, n);
    struct added_walk w;
    added_walk_begin(&w, &c->t->raw, text, n);
    added_walk_avoid(&w, c->data, c->n_data, 0);
    for (;;) {
        struct added_match m = added_walk_next(&w);
        TRY(encode_stretch(c, text + m.gap_begin, m.gap_end - m.gap_begin));
        if (m.id < 0) return STATUS_OK;
        TRY(ids_push(c->out, m.id, c->e));
    }
}

static enum status push_all(const struct ids *from, struct ids *to, struct err *e) {
    for (size_t i = 0; i < from->n; i++) TRY(ids_push(to, from->at[i], e));
    return STATUS_OK;
}

static enum status encode(struct encoding *c, const char *text, size_t n, bool special) {
    if (n > INT32_MAX) return err_set(c->e, STATUS_TOO_LARGE, "a text of %zu bytes is over the limit", n);
    if (!utf8_valid(text, n)) {
        utf8_append_lossy(&c->clean, text, n);
        if (c->clean.failed != STATUS_OK) return err_set(c->e, c->clean.failed, "no memory for a text of %zu bytes", n);
        text = c->clean.data;
        n = c->clean.n;
    }
    if (special) TRY(push_all(&c->t->before, c->out, c->e));
    TRY(encode_text(c, text, n));
    return special ? push_all(&c->t->after, c->out, c->e) : STATUS_OK;
}

static enum status run_encoding(struct encoding *c, const char *text, size_t n, bool special) {
    size_t n_before = c->out->n;
    buf_init(&c->clean, SIZE_MAX / 2);
    buf_init(&c->normalized, SIZE_MAX / 2);
    buf_init(&c->prefixed, SIZE_MAX / 2);
    enum status status = encode(c, text, n, special);
    if (status != STATUS_OK) c->out->n = n_before;
    bpe_scratch_fini(&c->scratch);
    buf_fini(&c->clean);
    buf_fini(&c->normalized);
    buf_fini(&c->prefixed);
    return status;
}

enum status tokenizer_encode(const struct tokenizer *t, const char *text, size_t n, unsigned flags, struct ids *out,
                             struct err *e) {
    struct encoding c = {.t = t, .plain = flags & TOKENIZE_PLAIN, .out = out, .e = e};
    return run_encoding(&c, text, n, flags & TOKENIZE_SPECIAL);
}

enum status tokenizer_encode_mixed(const struct tokenizer *t, const char *text, size_t n, const struct text_span *data,
                                   size_t n_data, struct ids *out, struct err *e) {
    struct encoding c = {.t = t, .data = data, .n_data = n_data, .out = out, .e = e};
    if (!utf8_valid(text, n)) return err_set(e, STATUS_INVALID, "a text with marked data must be valid UTF-8");
    return run_encoding(&c, text, n, false);
}
