// Added tokens: texts that become one id wherever they stand, found before anything else is done to the text.
#ifndef TF_TEXT_ADDED_TOKENS_H
#define TF_TEXT_ADDED_TOKENS_H

#include "text/tokenizer.h"

enum { ADDED_TOKEN_MAX = 1024 }; // bytes; bounds the time a text of near-matches takes

struct added_node; // of the trie; see added_tokens.c

// The tokens that are looked for in one pass.
struct added_matcher {
    struct added_node *nodes; // owned; NULL without tokens
    size_t n_nodes;
    struct added_token *tokens; // owned; their texts too
    size_t n_tokens;
    bool begins[256]; // some token begins with this byte
};

// Copies `tokens`; the earlier of equal texts counts. A text that is empty or too long is refused.
enum status added_matcher_init(struct added_matcher *m, const struct added_token *tokens, size_t n,
                               struct err *e) TF_MUST_CHECK;
void added_matcher_fini(struct added_matcher *m);

// A walk over the matches in a text.
struct added_walk {
    const struct added_matcher *matcher;
    const char *text; // valid UTF-8, borrowed
    size_t n;
    size_t search;    // where the next match is looked for
    size_t done;      // everything before was handed out
    size_t space_end; // the whitespace last skipped on the right ends here
    const struct text_span *data; // what no token may hold a byte of; what lies before `search` is dropped
    size_t n_data;
    size_t origin; // offset of `text` in the text that `data` speaks of
};

struct added_match {
    size_t gap_begin, gap_end; // text before the token that no token took; may be empty
    int32_t id;                // -1: there is no further token, the gap is the rest
};

void added_walk_begin(struct added_walk *w, const struct added_matcher *m, const char *text, size_t n);

// From now on no match holds a byte of the given spans (rising, borrowed); `text` begins at `origin` of their text.
// Whitespace that a token takes beside itself may be theirs.
void added_walk_avoid(struct added_walk *w, const struct text_span *data, size_t n_data, size_t origin);

// The next gap and the token after it. The caller stops after the answer whose id is -1.
struct added_match added_walk_next(struct added_walk *w);

#endif
