// A reply's ids to text as they come: special tokens left out, nothing that may still belong to a stop string.
#ifndef TF_TEXT_STOPPED_TEXT_H
#define TF_TEXT_STOPPED_TEXT_H

#include "base/buf.h"
#include "text/detokenizer.h"
#include "text/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How one reply is read. Borrowed; outlives what is made from it.
struct reply_rule {
    const struct tokenizer *tokenizer;
    size_t token_bytes; // of the tokenizer's longest token: reply_rule_token_bytes
    const int32_t *end_ids;
    size_t n_end_ids;
    bool ignore_eos; // end ids are text like others
    const char *const *stops;
    const size_t *stop_bytes;
    size_t n_stops;
    const char *think_open, *think_close; // NULL = no reasoning
    bool opens_reasoning;
};

size_t reply_rule_token_bytes(const struct tokenizer *t);

struct stopped_text {
    const struct reply_rule *rule;
    struct detokenizer detokenizer;
    struct stop_matcher *stops;
    int32_t markers[2]; // of reasoning; -1 where it is no single token
    struct buf piece;   // text of one id
    struct buf text;    // what of it has passed the stop strings: the result of each call below
};

// Takes all memory it will need. Close it even when this fails.
enum status stopped_text_open(struct stopped_text *t, const struct reply_rule *r, struct err *e) TF_MUST_CHECK;
void stopped_text_close(struct stopped_text *t);

// Leaves in t->text what became certain with this id, or with the end of the reply. Neither allocates.
enum status stopped_text_push(struct stopped_text *t, int32_t id, struct err *e) TF_MUST_CHECK;
void stopped_text_end(struct stopped_text *t);

int stopped_text_matched(const struct stopped_text *t); // index of the completed stop string, or -1

#endif
