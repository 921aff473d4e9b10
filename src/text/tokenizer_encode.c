// Encoding: added tokens are cut out, the text between is normalized, cut into pieces, and each becomes ids.
#include "text/tokenizer_parts.h"

#include "base/utf8.h"
#include "text/pretokenize.h"

// One call of tokenizer_encode.
struct encoding {
    const struct tokenizer *t;
    struct bpe_scratch bpe;
    struct unigram_scratch unigram;
    struct split_scratch split;
    struct normalize_scratch normalize;
    struct buf clean;    // the text with U+FFFD for broken bytes
    struct buf prefixed; // a space, then a stretch between added tokens
    struct buf bytes;    // a piece out of the byte alphabet
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

static bool is_control(const struct encoding *c, int32_t id) {
    return id != c->t->unknown && tokenizer_is_special(c->t, id);
}

static enum status encode_by_model(struct encoding *c, const char *piece, size_t n) {
    const struct tokenizer *t = c->t;
    if (t->model == TOKENIZER_WORDPIECE) return wordpiece_encode(&t->wordpiece, piece, n, c->out, c->e);
    if (t->model == TOKENIZER_UNIGRAM) return unigram_encode(&t->unigram, piece, n, &c->unigram, c->out, c->e);
    return bpe_encode(&t->bpe, piece, n, &c->bpe, c->out, c->e);
}

// The ids of a piece's bytes or characters, one by one.
static enum status spell_out(struct encoding *c, const char *piece, size_t n) {
    const struct tokenizer *t = c->t;
    if (t->model == TOKENIZER_WORDPIECE) return ids_push(c->out, t->unknown, c->e);
    if (t->model == TOKENIZER_BPE) return bpe_spell(&t->bpe, piece, n, &c->bpe, c->out, c->e);
    for (size_t i = 0, length; i < n; i += length) {
        uint32_t code_point;
        bool bad;
        length = utf8_next(piece + i, n - i, &code_point, &bad);
        TRY(unigram_encode(&t->unigram, piece + i, length, &c->unigram, c->out, c->e));
    }
    return STATUS_OK;
}

// Data never yields a control token, whatever the model makes of it: such a piece is spelled out.
static enum status encode_piece(struct encoding *c, const char *piece, size_t n, bool data) {
    size_t from = c->out->n;
    TRY(encode_by_model(c, piece, n));
    bool any = false;
    for (size_t i = from; data && i < c->out->n; i++) any = any || is_control(c, c->out->at[i]);
    if (!any) return STATUS_OK;
    c->out->n = from;
    return spell_out(c, piece, n);
}

// Which pieces of a stretch are data.
enum data_rule { NONE_IS_DATA, ALL_IS_DATA, JUDGE_BY_PIECE }; // the last only for a part of c->text

// A stretch that is no part of c->text any more: where some of it was data, all of it counts as data.
static enum data_rule rule_of_copy(const struct encoding *c, enum data_rule rule, const char *text, size_t n) {
    size_t origin = rule == JUDGE_BY_PIECE ? (size_t)(text - c->text) : 0;
    if (rule != JUDGE_BY_PIECE) return rule;
    return holds_data(c, origin, origin + n) ? ALL_IS_DATA : NONE_IS_DATA;
}

static bool is_data(const struct encoding *c, enum data_rule rule, size_t begin, size_t n) {
    return rule == ALL_IS_DATA || (rule == JUDGE_BY_PIECE && holds_data(c, begin, begin + n));
}

static enum status encode_by_hand(struct encoding *c, const char *text, size_t n, enum data_rule rule) {
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
    while (pretokenize_next(&p, &begin, &n_piece))
        TRY(encode_piece(c, text + begin, n_piece, is_data(c, rule, origin + begin, n_piece)));
    return STATUS_OK;
}

// A piece that the chain wrote in the byte alphabet, back in bytes.
static enum status from_alphabet(struct encoding *c, const char **piece, size_t *n) {
    bool verbatim;
    buf_reset(&c->bytes);
    char *bytes = buf_reserve(&c->bytes, *n);
    if (!bytes) return err_set(c->e, c->bytes.failed, "no memory for a piece of %zu bytes", *n);
    *n = vocabulary_from_alphabet(*piece, *n, bytes, &verbatim);
    *piece = bytes;
    return STATUS_OK;
}

static enum status encode_by_chain(struct encoding *c, const char *text, size_t n, enum data_rule rule, bool at_start) {
    const struct split_chain *chain = &c->t->chain;
    const char *cut;
    if (chain->edits) rule = rule_of_copy(c, rule, text, n);
    size_t origin = rule == JUDGE_BY_PIECE ? (size_t)(text - c->text) : 0;
    TRY(split_run(chain, &c->split, text, n, at_start, &cut, c->e));
    for (size_t i = 0; i < c->split.n_pieces; i++) {
        struct text_span span = c->split.pieces[i];
        const char *piece = cut + span.begin;
        size_t n_piece = span.end - span.begin;
        bool data = is_data(c, rule, origin + span.begin, n_piece);
        if (chain->alphabet) TRY(from_alphabet(c, &piece, &n_piece));
        TRY(encode_piece(c, piece, n_piece, data));
    }
    return STATUS_OK;
}

// Text without added tokens, normalized.
static enum status encode_pieces(struct encoding *c, const char *text, size_t n, enum data_rule rule, bool at_start) {
    if (c->t->pretokenizer == PRETOKENIZER_COUNT) return encode_by_chain(c, text, n, rule, at_start);
    return encode_by_hand(c, text, n, rule);
}

// Text in which the raw added tokens were found already.
static enum status encode_stretch(struct encoding *c, const char *text, size_t n) {
    enum data_rule rule = c->plain ? ALL_IS_DATA : c->n_data ? JUDGE_BY_PIECE : NONE_IS_DATA;
    size_t origin = (size_t)(text - c->text);
    const char *normalized;
    size_t n_normalized;
    TRY(normalize_run(&c->t->normalizer, &c->normalize, text, n, &normalized, &n_normalized, c->e));
    if (normalized != text) rule = rule_of_copy(c, rule, text, n);
    text = normalized;
    n = n_normalized;
    if (rule == ALL_IS_DATA) return encode_pieces(c, text, n, rule, origin == 0);
    struct added_walk w;
    added_walk_begin(&w, &c->t->normalized, text, n);
    if (rule == JUDGE_BY_PIECE) added_walk_avoid(&w, c->data, c->n_data, origin);
    for (;;) {
        struct added_match m = added_walk_next(&w);
        TRY(encode_pieces(c, text + m.gap_begin, m.gap_end - m.gap_begin, rule, origin + m.gap_begin == 0));
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
    buf_init(&c->prefixed, SIZE_MAX / 2);
    buf_init(&c->bytes, SIZE_MAX / 2);
    enum status status = encode(c, text, n, special);
    if (status != STATUS_OK) c->out->n = n_before;
    bpe_scratch_fini(&c->t->bpe, &c->bpe);
    unigram_scratch_fini(&c->unigram);
    split_scratch_fini(&c->split);
    normalize_scratch_fini(&c->normalize);
    buf_fini(&c->clean);
    buf_fini(&c->prefixed);
    buf_fini(&c->bytes);
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
