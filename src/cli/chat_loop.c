// The interactive chat: a conversation that grows by turns.
#include "cli/conversation.h"
#include "cli/run.h"
#include "cli/visible.h"

#include <stdio.h>
#include <string.h>

enum { INPUT_BYTES_MAX = 64 << 20 };

static enum status begin(struct conversation *c, const struct options *o, struct err *e) {
    const char *system = options_text(o, FLAG_SYSTEM);
    conversation_cut(c, 0);
    if (!system) return STATUS_OK;
    return conversation_add(c, "system", (struct conversation_text){system, strlen(system)}, NULL, e);
}

static struct conversation_text text_of(const struct buf *b) {
    return (struct conversation_text){b->n ? b->data : "", b->n};
}

// The reply to the conversation so far joins it; a reply that was stopped joins as far as it came. Reasoning goes along
// where the template has a place for it.
static enum status reply_turn(struct run *r, struct conversation *c, struct run_text *text, struct err *e) {
    struct ids prompt = {0};
    struct reply reply;
    bool opens;
    enum status s = conversation_encode(c, &r->text, r->date, &prompt, &opens, e);
    if (s == STATUS_OK) s = run_reply(r, &prompt, opens, text, &reply, e);
    ids_fini(&prompt);
    TRY(s);
    if (options_has(r->options, FLAG_STATS)) run_print_stats(r, &reply);
    struct conversation_text thought = text_of(&text->thought);
    bool keep = chat_template_facts(r->text.chat)->history_reasoning && thought.n;
    return conversation_add(c, "assistant", text_of(&text->answer), keep ? &thought : NULL, e);
}

// A turn that fails (too long for the context, say) is told and forgotten; the chat goes on.
static void take_turn(struct run *r, struct conversation *c, const struct buf *input, struct run_text *reply) {
    struct err e = {0};
    size_t before = c->n;
    buf_reset(&reply->answer);
    buf_reset(&reply->thought);
    enum status s = conversation_add(c, "user", text_of(input), NULL, &e);
    if (s == STATUS_OK) s = reply_turn(r, c, reply, &e);
    if (s == STATUS_OK) return;
    fputs("tensorfold: ", stderr);
    visible_print_line(stderr, e.message);
    fputs(s == STATUS_TOO_LARGE ? "; /clear forgets the conversation\n" : "\n", stderr);
    conversation_cut(c, before);
}

static void print_commands(void) {
    puts("/clear  forget the conversation\n/exit   leave (or Ctrl-D)\n/help   this list\n"
         "Enter sends, Alt-Enter starts a new line, Ctrl-C stops the reply.");
}

// Acts on a line that is a command; false when it is text for the model.
static bool take_command(struct run *r, struct conversation *c, const char *line, bool *over, struct err *e) {
    if (strcmp(line, "/help") == 0) {
        print_commands();
    } else if (strcmp(line, "/clear") == 0) {
        if (begin(c, r->options, e) != STATUS_OK) *over = true;
    } else if (strcmp(line, "/exit") == 0 || strcmp(line, "/quit") == 0) {
        *over = true;
    } else if (line[0] == '/' && line[1] && !strpbrk(line + 1, " /\n")) {
        printf("There is no command %s; /help lists them.\n", line);
    } else {
        return false;
    }
    return true;
}

static enum status loop(struct run *r, struct conversation *c, struct buf *input, struct run_text *reply,
                        struct err *e) {
    TRY(begin(c, r->options, e));
    puts("Chat with the model. /help lists commands, Ctrl-D ends.");
    for (bool over = false; !over;) {
        enum terminal_input kind = terminal_read(r->terminal, input);
        if (kind == TERMINAL_INPUT_END) break;
        if (kind == TERMINAL_INPUT_INTERRUPTED || input->n == 0) continue;
        if (!take_command(r, c, input->data, &over, e)) take_turn(r, c, input, reply);
    }
    return e->status;
}

enum status run_chat(struct run *r, struct err *e) {
    if (!r->text.chat) {
        return err_set(e, STATUS_UNSUPPORTED, "%s has no chat template; give a prompt to continue", r->session.path);
    }
    struct conversation c = {0};
    struct run_text reply;
    struct buf input;
    buf_init(&input, INPUT_BYTES_MAX);
    buf_init(&reply.answer, INPUT_BYTES_MAX);
    buf_init(&reply.thought, INPUT_BYTES_MAX);
    enum status s = loop(r, &c, &input, &reply, e);
    conversation_fini(&c);
    buf_fini(&input);
    buf_fini(&reply.answer);
    buf_fini(&reply.thought);
    return s;
}
