// Merges out of scores: each token is cut at each of its characters, and the cuts are sorted.
#include "text/merges.h"

#include "base/mem.h"
#include "text/vocabulary.h"

#include <stdlib.h>
#include <string.h>

struct cut {
    double score;
    uint32_t left_chars, right_chars;
    int32_t token, left, right;
    uint32_t split; // bytes of the left part
};

struct cuts {
    struct cut *at; // owned
    size_t n, cap;
};

static int compare(const void *a, const void *b) {
    const struct cut *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    if (x->left_chars != y->left_chars) return x->left_chars > y->left_chars ? -1 : 1;
    if (x->right_chars != y->right_chars) return x->right_chars > y->right_chars ? -1 : 1;
    if (x->token != y->token) return x->token < y->token ? -1 : 1;
    if (x->left != y->left) return x->left < y->left ? -1 : 1;
    return (x->right > y->right) - (x->right < y->right);
}

static bool push(struct cuts *c, struct cut cut) {
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 1024;
        struct cut *at = mem_resize(c->at, cap, sizeof *at);
        if (!at) return false;
        c->at = at;
        c->cap = cap;
    }
    c->at[c->n++] = cut;
    return true;
}

static uint32_t count_chars(const char *text, size_t n) {
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

static bool cut_token(const struct vocabulary *v, int32_t id, double score, struct cuts *cuts) {
    const char *text = v->bytes + v->begin[id];
    size_t n = v->begin[id + 1] - v->begin[id];
    uint32_t chars = count_chars(text, n), before = 1;
    for (size_t split = 1; split < n; split++) {
        if (((uint8_t)text[split] & 0xc0) == 0x80) continue;
        struct cut c = {.score = score, .left_chars = before, .right_chars = chars - before, .token = id,
                        .left = vocabulary_find(v, text, split, false),
                        .right = vocabulary_find(v, text + split, n - split, false), .split = (uint32_t)split};
        before++;
        if (c.left >= 0 && c.right >= 0 && !push(cuts, c)) return false;
    }
    return true;
}

// Writes the sorted cuts as "left right".
static bool write_merges(const struct vocabulary *v, const struct cuts *cuts, struct arena *a,
                         struct tokenizer_source *s) {
    const char **texts = arena_new(a, cuts->n, sizeof *texts);
    size_t *bytes = arena_new(a, cuts->n, sizeof *bytes), *splits = arena_new(a, cuts->n, sizeof *splits);
    if (!texts || !bytes || !splits) return false;
    for (size_t i = 0; i < cuts->n; i++) {
        const struct cut *c = &cuts->at[i];
        const char *token = v->bytes + v->begin[c->token];
        size_t n = v->begin[c->token + 1] - v->begin[c->token];
        char *text = arena_new(a, n + 1, 1);
        if (!text) return false;
        memcpy(text, token, c->split);
        text[c->split] = ' ';
        memcpy(text + c->split + 1, token + c->split, n - c->split);
        texts[i] = text;
        bytes[i] = n + 1;
        splits[i] = c->split;
    }
    s->merges = texts;
    s->merge_bytes = bytes;
    s->merge_split = splits;
    s->n_merges = cuts->n;
    return true;
}

enum status merges_from_scores(const double *scores, struct arena *a, struct tokenizer_source *s, struct err *e) {
    struct vocabulary v = {0};
    struct cuts cuts = {0};
    enum status status = vocabulary_init(&v, s->tokens, s->token_bytes, s->n_tokens, true, e);
    bool enough = true;
    for (size_t i = 0; i < s->n_tokens && status == STATUS_OK && enough; i++)
        if (s->tokens[i]) enough = cut_token(&v, (int32_t)i, scores[i], &cuts);
    if (status == STATUS_OK && enough && cuts.n) qsort(cuts.at, cuts.n, sizeof *cuts.at, compare);
    if (status == STATUS_OK && enough) enough = write_merges(&v, &cuts, a, s);
    if (!enough) status = err_set(e, STATUS_NO_MEMORY, "no memory for the merges of %zu tokens", s->n_tokens);
    mem_free(cuts.at);
    vocabulary_fini(&v);
    return status;
}
