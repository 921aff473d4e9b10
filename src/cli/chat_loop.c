// The interactive chat: a conversation that grows by turns.
#include "cli/run.h"
#include "cli/visible.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { INPUT_BYTES_MAX = 64 << 20 };

struct conversation {
    struct chat_message *messages; // contents owned
    size_t n, cap;
};

static enum status add_message(struct conversation *c, const char *role, const char *text, size_t n, struct err *e) {
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 16;
        struct chat_message *grown = mem_resize(c->messages, cap, sizeof *grown);
        if (!grown) return err_set(e, STATUS_NO_MEMORY, "no memory for the conversation");
        c->messages = grown;
        c->cap = cap;
    }
    char *copy = mem_string(text, n);
    if (!copy) return err_set(e, STATUS_NO_MEMORY, "no memory for the conversation");
    c->messages[c->n++] = (struct chat_message){.role = role, .content = copy, .n_content = n};
    return STATUS_OK;
}

static void cut_messages(struct conversation *c, size_t n) {
    while (c->n > n) mem_free((void *)c->messages[--c->n].content);
}

static enum status begin(struct conversation *c, const struct options *o, struct err *e) {
    const char *system = options_text(o, FLAG_SYSTEM);
    cut_messages(c, 0);
    return system ? add_message(c, "system", system, strlen(system), e) : STATUS_OK;
}

// The reply to the conversation so far joins it; a reply that was stopped joins as far as it came.
static enum status reply_turn(struct run *r, struct conversation *c, struct buf *text, struct err *e) {
    struct ids prompt = {0};
    struct reply reply;
    enum status s = chat_encode(r->text.chat, r->text.tokenizer, c->messages, c->n, true, &prompt, e);
    if (s == STATUS_OK) s = run_reply(r, &prompt, text, &reply, e);
    ids_fini(&prompt);
    TRY(s);
    if (options_has(r->options, FLAG_STATS)) run_print_stats(r, &reply);
    return add_message(c, "assistant", text->n ? text->data : "", text->n, e);
}

// A turn that fails (too long for the context, say) is told and forgotten; the chat goes on.
static void take_turn(struct run *r, struct conversation *c, const struct buf *input, struct buf *reply) {
    struct err e = {0};
    size_t before = c->n;
    buf_reset(reply);
    enum status s = add_message(c, "user", input->data, input->n, &e);
    if (s == STATUS_OK) s = reply_turn(r, c, reply, &e);
    if (s == STATUS_OK) return;
    fputs("tensorfold: ", stderr);
    visible_print_line(stderr, e.message);
    fputc('\n', stderr);
    cut_messages(c, before);
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

static enum status loop(struct run *r, struct conversation *c, struct buf *input, struct buf *reply, struct err *e) {
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
    struct buf input, reply;
    buf_init(&input, INPUT_BYTES_MAX);
    buf_init(&reply, INPUT_BYTES_MAX);
    enum status s = loop(r, &c, &input, &reply, e);
    cut_messages(&c, 0);
    mem_free(c.messages);
    buf_fini(&input);
    buf_fini(&reply);
    return s;
}
