// Whole replies of OpenAI's chat and completion routes as JSON, and the members that streams share with them.
#ifndef TF_SERVER_OPENAI_REPLY_H
#define TF_SERVER_OPENAI_REPLY_H

#include "server/reply_facts.h"

// A whole reply's text; for a completion that echoes its prompt the answer begins with it.
struct openai_text {
    const char *thought, *answer;
    size_t n_thought, n_answer;
};

void openai_reply_write(const struct reply_facts *f, const struct openai_text *text, struct buf *out);

// Members without a comma before or after them.
void openai_reply_head(const struct reply_facts *f, const char *object, struct buf *out); // id, object, created, model
void openai_reply_usage(const struct reply_facts *f, struct buf *out);                    // "usage": {...}
void openai_reply_extras(const struct reply_facts *f, struct buf *out); // exact_mode, stop_sequence, tensorfold
const char *openai_reply_finish(const struct reply_facts *f);           // "stop" or "length"

#endif
