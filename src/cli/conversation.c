// A conversation as the JSON document that chat requests are made of.
#include "cli/conversation.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

enum { TEXT_BYTES_MAX = 256 << 20 };

struct conversation_message {
    const char *role;
    struct buf content, reasoning; // valid UTF-8; no reasoning where it is empty
};

static enum status copy(struct buf *to, const struct conversation_text *from, struct err *e) {
    buf_init(to, TEXT_BYTES_MAX);
    if (from && from->n) utf8_append_lossy(to, from->text, from->n);
    return to->failed == STATUS_OK ? STATUS_OK : err_set(e, to->failed, "the message is too long");
}

enum status conversation_add(struct conversation *c, const char *role, struct conversation_text content,
                             const struct conversation_text *reasoning, struct err *e) {
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 16;
        struct conversation_message *grown = mem_resize(c->messages, cap, sizeof *grown);
        if (!grown) return err_set(e, STATUS_NO_MEMORY, "no memory for the conversation");
        c->messages = grown;
        c->cap = cap;
    }
    struct conversation_message *m = &c->messages[c->n++];
    m->role = role;
    enum status s = copy(&m->content, &content, e);
    enum status t = copy(&m->reasoning, reasoning, e);
    if (s == STATUS_OK) s = t;
    if (s != STATUS_OK) conversation_cut(c, c->n - 1);
    return s;
}

void conversation_cut(struct conversation *c, size_t n) {
    while (c->n > n) {
        c->n--;
        buf_fini(&c->messages[c->n].content);
        buf_fini(&c->messages[c->n].reasoning);
    }
}

void conversation_fini(struct conversation *c) {
    conversation_cut(c, 0);
    mem_free(c->messages);
    *c = (struct conversation){0};
}

static bool put(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const struct buf *text) {
    return yyjson_mut_obj_add_strn(doc, object, key, text->data ? text->data : "", text->n);
}

// The messages as a document, which borrows nothing; NULL without memory.
static yyjson_doc *to_json(const struct conversation *c) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    bool ok = doc && list;
    for (size_t i = 0; ok && i < c->n; i++) {
        const struct conversation_message *m = &c->messages[i];
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
        ok = object && yyjson_mut_obj_add_str(doc, object, "role", m->role) && put(doc, object, "content", &m->content);
        if (ok && m->reasoning.n) ok = put(doc, object, "reasoning_content", &m->reasoning);
    }
    yyjson_mut_doc_set_root(doc, list);
    yyjson_doc *out = ok ? yyjson_mut_doc_imut_copy(doc, NULL) : NULL;
    yyjson_mut_doc_free(doc);
    return out;
}

enum status conversation_encode(const struct conversation *c, const struct model_text *text, const char *date,
                                struct ids *out, bool *opens_reasoning, struct err *e) {
    yyjson_doc *doc = to_json(c);
    if (!doc) return err_set(e, STATUS_NO_MEMORY, "no memory for the conversation");
    struct chat_input input = {.messages = yyjson_doc_get_root(doc), .add_generation_prompt = true, .date = date};
    struct chat_prompt prompt;
    enum status s = chat_render(text->chat, &input, &prompt, e);
    yyjson_doc_free(doc);
    TRY(s);
    s = chat_encode(&prompt, text->tokenizer, out, e);
    *opens_reasoning = prompt.opens_reasoning;
    chat_prompt_fini(&prompt);
    return s;
}
