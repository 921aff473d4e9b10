// Chat messages to a prompt through the checkpoint's own template; text from people never becomes a control token.
#ifndef TF_TEXT_CHAT_H
#define TF_TEXT_CHAT_H

#include "base/buf.h"
#include "text/tokenizer.h"

struct chat_template;

// Compiles a Jinja template (text, n bytes) in Hugging Face's settings. bos and eos are what the template sees as
// bos_token and eos_token ("" for none). A syntax error names line and column.
enum status chat_template_new(const char *text, size_t n, const char *bos, const char *eos, struct chat_template **out,
                              struct err *e) TF_MUST_CHECK;
void chat_template_free(struct chat_template *t);

// Lets the template ask for the date (strftime_now). Without it templates that can do without use their fixed date.
struct jinja_clock;
void chat_template_set_clock(struct chat_template *t, const struct jinja_clock *clock);

struct chat_message {
    const char *role; // "system", "user", "assistant"
    const char *content;
    size_t n_content;
};

// Appends the rendered text of a conversation, ending with the generation prompt when asked for.
enum status chat_render(const struct chat_template *t, const struct chat_message *messages, size_t n,
                        bool add_generation_prompt, struct buf *out, struct err *e) TF_MUST_CHECK;

// The same as token ids: text of the template is tokenized with added tokens, message content as plain data.
// For content without control tokens in it the ids equal those of the rendered text.
enum status chat_encode(const struct chat_template *t, const struct tokenizer *tokenizer,
                        const struct chat_message *messages, size_t n, bool add_generation_prompt, struct ids *out,
                        struct err *e) TF_MUST_CHECK;

#endif
