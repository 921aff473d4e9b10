// Chat prompts: messages into the template's language, rendered text into ids with people's text kept as data.
#include "text/chat.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/jinja.h"

#include <string.h>

enum { MESSAGES_BYTES = 256 << 20 };

struct chat_template {
    struct jinja *jinja;
    char *bos, *eos;
    struct jinja_clock clock; // without a function: the template finds no strftime_now
};

enum status chat_template_new(const char *text, size_t n, const char *bos, const char *eos, struct chat_template **out,
                              struct err *e) {
    struct chat_template *t = mem_new(1, sizeof *t);
    if (!t) return err_set(e, STATUS_NO_MEMORY, "no memory for a chat template");
    t->bos = mem_string(bos, strlen(bos));
    t->eos = mem_string(eos, strlen(eos));
    enum status status = STATUS_OK;
    if (!t->bos || !t->eos) status = err_set(e, STATUS_NO_MEMORY, "no memory for a chat template");
    if (status == STATUS_OK) status = jinja_compile(text, n, &t->jinja, e);
    if (status != STATUS_OK) {
        chat_template_free(t);
        return status;
    }
    *out = t;
    return STATUS_OK;
}

void chat_template_free(struct chat_template *t) {
    if (!t) return;
    jinja_free(t->jinja);
    mem_free(t->bos);
    mem_free(t->eos);
    mem_free(t);
}

void chat_template_set_clock(struct chat_template *t, const struct jinja_clock *clock) { t->clock = *clock; }

// Broken UTF-8 becomes U+FFFD here, so that the rendered text is valid and byte offsets stay what they are.
static enum status data_string(struct arena *a, const char *text, size_t n, struct jinja_value *out) {
    if (utf8_valid(text, n)) return jinja_string_borrow(a, text, n, true, out);
    struct buf clean;
    buf_init(&clean, MESSAGES_BYTES);
    utf8_append_lossy(&clean, text, n);
    enum status status = clean.failed;
    if (status == STATUS_OK) status = jinja_string_copy(a, clean.data, clean.n, true, out);
    buf_fini(&clean);
    return status;
}

static enum status add_message(struct arena *a, const struct chat_message *m, struct jinja_list *list) {
    struct jinja_mapping *fields;
    struct jinja_value role, content;
    TRY(jinja_mapping_new(a, 2, &fields));
    TRY(data_string(a, m->role, strlen(m->role), &role));
    TRY(data_string(a, m->content, m->n_content, &content));
    TRY(jinja_mapping_put(a, fields, "role", role));
    TRY(jinja_mapping_put(a, fields, "content", content));
    return jinja_list_push(a, list, jinja_of_mapping(fields));
}

// What Hugging Face's apply_chat_template hands to a template: tools and documents are there, but none; a special
// token that the tokenizer lacks is not there at all.
static enum status build_globals(const struct chat_template *t, struct arena *a, const struct chat_message *messages,
                                 size_t n, bool add_generation_prompt, struct jinja_value *out) {
    struct jinja_mapping *root;
    struct jinja_list *list;
    struct jinja_value v;
    TRY(jinja_mapping_new(a, 8, &root));
    TRY(jinja_list_new(a, n, JINJA_SEQUENCE_LIST, &list));
    for (size_t i = 0; i < n; i++) TRY(add_message(a, &messages[i], list));
    TRY(jinja_mapping_put(a, root, "messages", jinja_of_list(list)));
    TRY(jinja_mapping_put(a, root, "tools", jinja_none()));
    TRY(jinja_mapping_put(a, root, "documents", jinja_none()));
    TRY(jinja_mapping_put(a, root, "add_generation_prompt", jinja_bool(add_generation_prompt)));
    if (t->bos[0]) {
        TRY(jinja_string_borrow(a, t->bos, strlen(t->bos), false, &v));
        TRY(jinja_mapping_put(a, root, "bos_token", v));
    }
    if (t->eos[0]) {
        TRY(jinja_string_borrow(a, t->eos, strlen(t->eos), false, &v));
        TRY(jinja_mapping_put(a, root, "eos_token", v));
    }
    *out = jinja_of_mapping(root);
    return STATUS_OK;
}

static enum status render(const struct chat_template *t, const struct chat_message *messages, size_t n,
                          bool add_generation_prompt, struct jinja_output *out, struct err *e) {
    struct jinja_options options = {.clock = t->clock.local_seconds ? &t->clock : NULL};
    struct arena arena;
    struct jinja_value root;
    arena_init(&arena, MESSAGES_BYTES);
    enum status status = build_globals(t, &arena, messages, n, add_generation_prompt, &root);
    if (status != STATUS_OK) err_set(e, status, "the messages of a chat need more than %d bytes", MESSAGES_BYTES);
    else status = jinja_render(t->jinja, &root, &options, out, e);
    if (status != STATUS_OK) err_prefix(e, "chat template");
    arena_fini(&arena);
    return status;
}

enum status chat_render(const struct chat_template *t, const struct chat_message *messages, size_t n,
                        bool add_generation_prompt, struct buf *out, struct err *e) {
    struct jinja_output text;
    TRY(render(t, messages, n, add_generation_prompt, &text, e));
    buf_append(out, text.text, text.n);
    jinja_output_fini(&text);
    if (out->failed != STATUS_OK) return err_set(e, out->failed, "the prompt is too large");
    return STATUS_OK;
}

static enum status encode(const struct tokenizer *tokenizer, const struct jinja_output *text, struct ids *out,
                          struct err *e) {
    struct text_span *data = mem_new(text->n_pieces + 1, sizeof *data);
    size_t n = 0;
    if (!data) return err_set(e, STATUS_NO_MEMORY, "no memory for a prompt");
    for (size_t i = 0; i < text->n_pieces; i++) {
        if (text->pieces[i].marked) data[n++] = (struct text_span){text->pieces[i].begin, text->pieces[i].end};
    }
    enum status status = tokenizer_encode_mixed(tokenizer, text->text, text->n, data, n, out, e);
    mem_free(data);
    return status;
}

enum status chat_encode(const struct chat_template *t, const struct tokenizer *tokenizer,
                        const struct chat_message *messages, size_t n, bool add_generation_prompt, struct ids *out,
                        struct err *e) {
    struct jinja_output text;
    TRY(render(t, messages, n, add_generation_prompt, &text, e));
    enum status status = encode(tokenizer, &text, out, e);
    jinja_output_fini(&text);
    return status;
}
