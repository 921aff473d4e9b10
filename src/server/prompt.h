// What a request asks the model to continue, as token ids.
#ifndef TF_SERVER_PROMPT_H
#define TF_SERVER_PROMPT_H

#include "server/request.h"
#include "server/serving.h"

struct prompt {
    struct ids ids;
    struct buf echo;      // completions with "echo": the prompt's text, which the reply begins with
    bool opens_reasoning; // it ends inside a block of reasoning
    char date[16];        // the day that the template read, "" when it asked for none
};

// Renders and tokenizes; a conversation that the template refuses is a refusal in its words. Free with prompt_fini.
enum status prompt_make(const struct serving *s, const struct request *r, struct prompt *out,
                        struct api_error *e) TF_MUST_CHECK;
void prompt_fini(struct prompt *p);

#endif
