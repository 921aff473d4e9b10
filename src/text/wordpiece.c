// WordPiece over the hash of the vocabulary.
#include "text/wordpiece.h"

#include <string.h>

enum status wordpiece_init(struct wordpiece *w, const struct vocabulary *v, const struct tokenizer_source *source,
                           struct err *e) {
    size_t n = source->word_prefix ? strlen(source->word_prefix) : 0;
    if (!source->has_unknown) return err_set(e, STATUS_INVALID, "WordPiece has no unknown token");
    if (n >= WORDPIECE_PREFIX_MAX) return err_set(e, STATUS_TOO_LARGE, "the prefix of WordPiece has %zu bytes", n);
    *w = (struct wordpiece){
        .vocabulary = v, .n_prefix = n, .chars_max = source->word_chars_max, .unknown = source->unknown};
    memcpy(w->prefix, n ? source->word_prefix : "", n);
    return STATUS_OK;
}

static bool is_boundary(const char *text, size_t n, size_t at) {
    return at == n || ((uint8_t)text[at] & 0xc0) != 0x80;
}

// The longest token that word[at..n) begins with, and its end; -1 for none.
static int32_t longest(const struct wordpiece *w, const char *word, size_t n, size_t at, size_t *end) {
    char text[WORDPIECE_PREFIX_MAX + VOCABULARY_TOKEN_MAX];
    size_t n_prefix = at ? w->n_prefix : 0, most = w->vocabulary->longest;
    memcpy(text, w->prefix, n_prefix);
    if (most <= n_prefix) return -1;
    if (most - n_prefix < n - at) n = at + most - n_prefix;
    memcpy(text + n_prefix, word + at, n - at);
    for (*end = n; *end > at; --*end) {
        if (!is_boundary(word, n, *end)) continue;
        int32_t id = vocabulary_find(w->vocabulary, text, n_prefix + *end - at, false);
        if (id >= 0 && !(w->vocabulary->flags[id] & VOCABULARY_ADDED)) return id;
    }
    return -1;
}

static size_t count_chars(const char *text, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

enum status wordpiece_encode(const struct wordpiece *w, const char *word, size_t n, struct ids *out, struct err *e) {
    size_t n_before = out->n, at = 0, end = 0;
    while (at < n && count_chars(word, n) <= w->chars_max) {
        int32_t id = longest(w, word, n, at, &end);
        if (id < 0) break;
        TRY(ids_push(out, id, e));
        at = end;
    }
    if (at == n) return STATUS_OK;
    out->n = n_before;
    return ids_push(out, w->unknown, e);
}
