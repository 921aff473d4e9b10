// What single replies and chats share: the opened model with its text side, and one reply printed as it comes.
#ifndef TF_CLI_RUN_H
#define TF_CLI_RUN_H

#include "cli/environment.h"
#include "cli/model_text.h"
#include "cli/reply.h"
#include "cli/terminal.h"

struct run {
    const struct options *options;
    struct session session;
    struct model_text text;
    struct draw_rule rule; // without a seed
    int32_t end_ids[END_IDS_MAX];
    size_t n_end_ids;
    struct terminal *terminal; // of a chat; NULL: Ctrl-C ends the program
    bool to_terminal;          // standard output is one: control characters are not passed on
    char date[ENVIRONMENT_DATE_BYTES]; // the day that a chat template is told
};

// A reply's text in its two parts.
struct run_text {
    struct buf answer, thought;
};

enum status run_open(struct run *r, const struct options *o, const char *model, struct command_error *e) TF_MUST_CHECK;
void run_close(struct run *r);

// Prints a reply to `prompt` on standard output and ends it with a newline. Reasoning (the reply begins with it where
// `opens_reasoning`) is dimmed on a terminal, else printed as it comes. `kept` (or NULL) receives the text.
enum status run_reply(struct run *r, const struct ids *prompt, bool opens_reasoning, struct run_text *kept,
                      struct reply *out, struct err *e) TF_MUST_CHECK;

// One line about a reply on standard error.
void run_print_stats(const struct run *r, const struct reply *reply);

// Chats until the input ends.
enum status run_chat(struct run *r, struct err *e) TF_MUST_CHECK;

#endif
