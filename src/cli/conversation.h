// The messages of a chat, and the prompt that a model's template makes of them.
#ifndef TF_CLI_CONVERSATION_H
#define TF_CLI_CONVERSATION_H

#include "cli/model_text.h"

struct conversation_message;

struct conversation {
    struct conversation_message *messages;
    size_t n, cap;
};

struct conversation_text {
    const char *text; // need not be valid UTF-8
    size_t n;
};

// Adds a message; texts are copied. `reasoning` may be NULL.
enum status conversation_add(struct conversation *c, const char *role, struct conversation_text content,
                             const struct conversation_text *reasoning, struct err *e) TF_MUST_CHECK;
void conversation_cut(struct conversation *c, size_t n); // keeps the first n
void conversation_fini(struct conversation *c);

// Appends the ids of the prompt for the next reply. *opens_reasoning: the reply begins inside a block of reasoning.
// `date` ("YYYY-MM-DD") is the day that a template which asks is told.
enum status conversation_encode(const struct conversation *c, const struct model_text *text, const char *date,
                                struct ids *out, bool *opens_reasoning, struct err *e) TF_MUST_CHECK;

#endif
