// run: one reply to an argument or a pipe, or a chat.
#include "cli/conversation.h"
#include "cli/default_model.h"
#include "cli/lines.h"
#include "cli/run.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROMPT_BYTES_MAX = 256 << 20, PATH_BYTES_MAX = 8192 };

struct asked {
    const char *model;  // NULL: the default one
    const char *prompt; // NULL: none on the command line
};

static bool ends_with(const char *text, const char *tail) {
    size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

// A single operand is a model when it is there, or looks like a path.
static bool is_model(const char *operand) {
    if (file_exists(operand) || file_is_folder(operand) || ends_with(operand, ".gguf")) return true;
    return strchr(operand, '/') && !strpbrk(operand, " \n");
}

static struct asked read_operands(const struct options *o) {
    const char *first = o->operands[0];
    if (o->n_operands == 1 && !is_model(first)) return (struct asked){.prompt = first};
    return (struct asked){.model = first, .prompt = o->operands[1]};
}

// The prompt's text: the argument, else standard input without its last newline.
static enum status read_prompt(const struct asked *a, struct buf *out, struct err *e) {
    if (a->prompt) {
        buf_text(out, a->prompt);
    } else {
        if (isatty(STDIN_FILENO)) fputs("reading the prompt; Ctrl-D on a line of its own ends it\n", stderr);
        lines_rest(stdin, out);
        if (ferror(stdin)) return err_set(e, STATUS_IO, "cannot read standard input");
        if (out->n && out->data[out->n - 1] == '\n') out->n--;
    }
    if (out->failed != STATUS_OK) return err_set(e, out->failed, "the prompt is too long");
    return out->n ? STATUS_OK : err_set(e, STATUS_INVALID, "the prompt is empty");
}

// The prompt as a conversation of one message, two with --system.
static enum status encode_chat(const struct run *r, const struct buf *text, struct ids *ids, bool *opens_reasoning,
                               struct err *e) {
    const char *system = options_text(r->options, FLAG_SYSTEM);
    struct conversation c = {0};
    enum status s = STATUS_OK;
    if (system) s = conversation_add(&c, "system", (struct conversation_text){system, strlen(system)}, NULL, e);
    if (s == STATUS_OK) s = conversation_add(&c, "user", (struct conversation_text){text->data, text->n}, NULL, e);
    if (s == STATUS_OK) s = conversation_encode(&c, &r->text, r->date, ids, opens_reasoning, e);
    conversation_fini(&c);
    return s;
}

static enum status encode_prompt(const struct run *r, const struct buf *text, struct ids *ids, bool *opens_reasoning,
                                 struct err *e) {
    bool raw = options_has(r->options, FLAG_RAW);
    *opens_reasoning = false;
    if (r->text.chat && !raw) return encode_chat(r, text, ids, opens_reasoning, e);
    if (!raw) log_line(&r->session.log, LOG_LEVEL_WARN, "no chat template: the prompt is continued as it is");
    return tokenizer_encode(r->text.tokenizer, text->data, text->n, TOKENIZE_SPECIAL, ids, e);
}

static enum status answer(struct run *r, const struct buf *text, struct err *e) {
    struct ids prompt = {0};
    struct reply reply;
    bool opens_reasoning;
    enum status s = encode_prompt(r, text, &prompt, &opens_reasoning, e);
    if (s == STATUS_OK) s = run_reply(r, &prompt, opens_reasoning, NULL, &reply, e);
    ids_fini(&prompt);
    bool stats = options_has(r->options, FLAG_STATS) || isatty(STDERR_FILENO);
    if (s == STATUS_OK && stats) run_print_stats(r, &reply);
    return s;
}

static enum status answer_once(struct run *r, const struct asked *a, const char *model, struct command_error *e) {
    struct buf text;
    buf_init(&text, PROMPT_BYTES_MAX);
    enum status s = read_prompt(a, &text, &e->err);
    if (s == STATUS_OK) s = run_open(r, r->options, model, e);
    if (s == STATUS_OK) s = answer(r, &text, &e->err);
    buf_fini(&text);
    return s;
}

// The history's file is optional: without a home the chat works all the same.
static enum status chat(struct run *r, const char *model, struct command_error *e) {
    struct buf history;
    buf_init(&history, PATH_BYTES_MAX);
    bool kept = environment_cache_path("history", &history, NULL) == STATUS_OK;
    if (kept) environment_make_folders(history.data);
    enum status s = terminal_open(kept ? history.data : NULL, &r->terminal, &e->err);
    if (s == STATUS_OK) s = run_open(r, r->options, model, e);
    if (s == STATUS_OK) s = run_chat(r, &e->err);
    if (r->terminal) terminal_close(r->terminal);
    buf_fini(&history);
    return s;
}

// --raw leaves the template out, and with it what only the template has a place for.
static enum status check_raw(const struct options *o, bool interactive, struct err *e) {
    if (!options_has(o, FLAG_RAW)) return STATUS_OK;
    if (options_has(o, FLAG_SYSTEM)) return err_set(e, STATUS_INVALID, "--raw has no place for --system");
    return interactive ? err_set(e, STATUS_INVALID, "--raw needs a prompt: a chat goes by the template") : STATUS_OK;
}

enum status cmd_run(const struct options *o, struct command_error *e) {
    struct asked asked = read_operands(o);
    struct run r = {.options = o};
    struct buf model;
    bool interactive = !asked.prompt && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (check_raw(o, interactive, &e->err) != STATUS_OK) return command_usage(e, STATUS_INVALID);
    buf_init(&model, PATH_BYTES_MAX);
    enum status s = default_model_find(asked.model, &model, &e->err);
    if (s == STATUS_OK) s = interactive ? chat(&r, model.data, e) : answer_once(&r, &asked, model.data, e);
    run_close(&r);
    buf_fini(&model);
    return s;
}
