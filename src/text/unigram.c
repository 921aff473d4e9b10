// Unigram by the best way to each place of a piece, with the sums and the order of comparisons of `tokenizers`.
#include "text/unigram.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double UNKNOWN_PENALTY = 10.0; // below the lowest score

// The best way to a place: its score, where its last token begins and which it is.
struct unigram_node {
    double score;
    size_t begin; // SIZE_MAX: no way is known yet
    size_t next;  // along the best way of the whole piece: where the token from here ends, and which it is
    int32_t id, next_id;
};

static int32_t model_token(const struct vocabulary *v, const char *text, size_t n) {
    int32_t id = vocabulary_find(v, text, n, false);
    return id >= 0 && v->flags[id] & VOCABULARY_ADDED ? -1 : id;
}

enum status unigram_init(struct unigram *u, const struct vocabulary *v, const struct tokenizer_source *source,
                         struct err *e) {
    *u = (struct unigram){.vocabulary = v, .unknown = source->has_unknown ? source->unknown : -1};
    u->scores = mem_new(v->n_ids, sizeof *u->scores);
    if (!u->scores) return err_set(e, STATUS_NO_MEMORY, "no memory for %zu scores", v->n_ids);
    double lowest = INFINITY;
    for (size_t i = 0; i < source->n_tokens; i++) {
        u->scores[i] = source->scores[i];
        if (source->tokens[i] && source->scores[i] < lowest) lowest = source->scores[i];
    }
    u->unknown_score = lowest - UNKNOWN_PENALTY;
    for (int c = 0; c < 256; c++) {
        char written[8];
        int n = snprintf(written, sizeof written, "<0x%02X>", (unsigned)c);
        u->fallback[c] = source->byte_fallback ? model_token(v, written, (size_t)n) : -1;
    }
    return STATUS_OK;
}

void unigram_fini(struct unigram *u) {
    mem_free(u->scores);
    *u = (struct unigram){0};
}

void unigram_scratch_fini(struct unigram_scratch *s) {
    mem_free(s->nodes);
    *s = (struct unigram_scratch){0};
}

static enum status make_room(struct unigram_scratch *s, size_t n, struct err *e) {
    if (n + 1 > s->cap) {
        size_t cap = n < 256 ? 256 : n + 1;
        struct unigram_node *nodes = mem_resize(s->nodes, cap, sizeof *nodes);
        if (!nodes) return err_set(e, STATUS_NO_MEMORY, "no memory for a piece of %zu bytes", n);
        s->nodes = nodes;
        s->cap = cap;
    }
    for (size_t i = 0; i <= n; i++) s->nodes[i] = (struct unigram_node){.begin = SIZE_MAX};
    return STATUS_OK;
}

static void offer(struct unigram_node *node, double score, size_t begin, int32_t id) {
    if (node->begin != SIZE_MAX && score <= node->score) return;
    *node = (struct unigram_node){.score = score, .begin = begin, .id = id};
}

// Offers every token that begins at `at` to the place where it ends.
static enum status leave(const struct unigram *u, struct unigram_node *nodes, const char *piece, size_t n, size_t at,
                         size_t *first, struct err *e) {
    double so_far = nodes[at].score;
    size_t most = u->vocabulary->longest;
    bool single = false, bad;
    uint32_t c;
    *first = utf8_next(piece + at, n - at, &c, &bad);
    for (size_t length = *first; length <= n - at && length <= most; length++) {
        if (at + length < n && ((uint8_t)piece[at + length] & 0xc0) == 0x80) continue;
        int32_t id = model_token(u->vocabulary, piece + at, length);
        if (id < 0) continue;
        offer(&nodes[at + length], u->scores[id] + so_far, at, id);
        single = single || length == *first;
    }
    if (single) return STATUS_OK;
    if (u->unknown < 0) return err_set(e, STATUS_INVALID, "a character has no token, and there is no unknown token");
    offer(&nodes[at + *first], u->unknown_score + so_far, at, u->unknown);
    return STATUS_OK;
}

// Appends a stretch of unknown characters: bytes where all of them have tokens, else one unknown token.
static enum status push_unknown(const struct unigram *u, const char *text, size_t n, struct ids *out, struct err *e) {
    size_t i = 0;
    while (i < n && u->fallback[(uint8_t)text[i]] >= 0) i++;
    if (i < n) return ids_push(out, u->unknown, e);
    for (i = 0; i < n; i++) TRY(ids_push(out, u->fallback[(uint8_t)text[i]], e));
    return STATUS_OK;
}

enum status unigram_encode(const struct unigram *u, const char *piece, size_t n, struct unigram_scratch *s,
                           struct ids *out, struct err *e) {
    TRY(make_room(s, n, e));
    struct unigram_node *nodes = s->nodes;
    nodes[0].begin = 0;
    for (size_t at = 0, length; at < n; at += length) TRY(leave(u, nodes, piece, n, at, &length, e));
    for (size_t end = n, begin; end > 0; end = begin) {
        begin = nodes[end].begin;
        nodes[begin].next = end;
        nodes[begin].next_id = nodes[end].id;
    }
    for (size_t at = 0; at < n;) {
        size_t begin = at;
        while (at < n && nodes[at].next_id == u->unknown) at = nodes[at].next;
        if (at > begin) TRY(push_unknown(u, piece + begin, at - begin, out, e));
        if (at == n) break;
        TRY(ids_push(out, nodes[at].next_id, e));
        at = nodes[at].next;
    }
    return STATUS_OK;
}
