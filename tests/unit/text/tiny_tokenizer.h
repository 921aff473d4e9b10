// A tokenizer for tests: id b is the byte b, and the merges given make ids 256, 257, ... in their order.
#ifndef TF_TESTS_UNIT_TEXT_TINY_TOKENIZER_H
#define TF_TESTS_UNIT_TEXT_TINY_TOKENIZER_H

#include "base/buf.h"
#include "base/utf8.h"
#include "tests/support/test.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <string.h>

enum { TINY_MERGES = 32 };

struct tiny {
    struct tokenizer_source source;
    const char *tokens[256 + TINY_MERGES], *merges[TINY_MERGES];
    size_t token_bytes[256 + TINY_MERGES], merge_bytes[TINY_MERGES];
    char written[256 + TINY_MERGES][64];
};

// The alphabet, and merges written as in a file ("h e"); the source may be changed before tokenizer_new.
static inline void tiny_init(struct tiny *t, size_t n_merges, const char *const *merges) {
    memset(t, 0, sizeof *t);
    uint32_t beyond = 256;
    for (uint32_t b = 0; b < 256; b++) {
        bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        t->token_bytes[b] = utf8_put(printable ? b : beyond++, t->written[b]);
    }
    for (size_t i = 0; i < n_merges; i++) {
        char *joined = t->written[256 + i];
        for (const char *m = merges[i]; *m; m++)
            if (*m != ' ') *joined++ = *m;
        t->token_bytes[256 + i] = (size_t)(joined - t->written[256 + i]);
        t->merges[i] = merges[i];
        t->merge_bytes[i] = strlen(merges[i]);
    }
    for (size_t i = 0; i < 256 + n_merges; i++) t->tokens[i] = t->written[i];
    t->source = (struct tokenizer_source){.tokens = t->tokens, .token_bytes = t->token_bytes,
                                          .n_tokens = 256 + n_merges, .merges = t->merges,
                                          .merge_bytes = t->merge_bytes, .n_merges = n_merges};
}

static inline struct tokenizer *tiny_new(const struct tiny *t) {
    struct tokenizer *made = NULL;
    struct err e = {0};
    if (tokenizer_new(&t->source, &made, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
    return made;
}

// The ids of a text as decimal numbers with blanks between; the answer lasts until the next call.
static inline const char *tiny_encode(const struct tokenizer *t, const char *text, size_t n, unsigned flags) {
    static char out[4096];
    struct ids ids = {0};
    struct err e = {0};
    size_t at = 0;
    out[0] = '\0';
    if (tokenizer_encode(t, text, n, flags, &ids, &e) != STATUS_OK) snprintf(out, sizeof out, "%s", e.message);
    for (size_t i = 0; i < ids.n && at + 16 < sizeof out; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, i ? " %d" : "%d", ids.at[i]);
    ids_fini(&ids);
    return out;
}

#define CHECK_IDS(expected, t, text, flags) CHECK_TEXT(expected, tiny_encode(t, text, sizeof(text) - 1, flags))

#endif
