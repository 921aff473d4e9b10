// Chat prompts: requests into the template's language, rendered text into ids with people's text kept as data.
#include "text/chat.h"

#include "base/mem.h"
#include "text/chat_context.h"
#include "text/chat_normalise.h"
#include "text/chat_probe.h"

#include <string.h>

enum { MESSAGES_BYTES = 256 << 20, PROMPT_BYTES = 256 << 20 };

struct chat_template {
    struct chat_context context;
    struct chat_facts facts;
};

const char *chat_effort_name(enum chat_effort effort) {
    static const char *const names[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
    return names[effort];
}

enum status chat_template_new(const char *text, size_t n, const char *bos, const char *eos, struct chat_template **out,
                              struct err *e) {
    *out = NULL;
    struct chat_template *t = mem_new(1, sizeof *t);
    if (!t) return err_set(e, STATUS_NO_MEMORY, "no memory for a chat template");
    struct chat_context *c = &t->context;
    c->bos = mem_string(bos, strlen(bos));
    c->eos = mem_string(eos, strlen(eos));
    enum status status = STATUS_OK;
    if (!c->bos || !c->eos) status = err_set(e, STATUS_NO_MEMORY, "no memory for a chat template");
    if (status == STATUS_OK) status = jinja_compile(text, n, &c->jinja, e);
    if (status == STATUS_OK) status = chat_probe(c, text, n, &t->facts, e);
    if (status == STATUS_OK) *out = t;
    else chat_template_free(t);
    return status;
}

void chat_template_free(struct chat_template *t) {
    if (!t) return;
    jinja_free(t->context.jinja);
    mem_free(t->context.bos);
    mem_free(t->context.eos);
    mem_free(t);
}

const struct chat_facts *chat_template_facts(const struct chat_template *t) { return &t->facts; }

void chat_prompt_fini(struct chat_prompt *p) {
    buf_fini(&p->text);
    mem_free(p->data);
    *p = (struct chat_prompt){0};
}

// The last place of `word` in text[0..n), or NULL.
static const char *find_last(const char *text, size_t n, const char *word) {
    const char *found = NULL, *at = text;
    size_t length = strlen(word);
    while ((at = memmem(at, n - (size_t)(at - text), word, length))) found = at++;
    return found;
}

// Whether the last open mark is the template's own, and neither a close mark nor anybody's text comes after it.
static bool opens_reasoning(const struct chat_facts *f, const struct chat_prompt *p) {
    if (!f->think_open || p->text.n == 0) return false;
    size_t own = p->n_data ? p->data[p->n_data - 1].end : 0;
    const char *tail = p->text.data + own;
    const char *open = find_last(tail, p->text.n - own, f->think_open);
    return open && !find_last(open, p->text.n - (size_t)(open - p->text.data), f->think_close);
}

static enum status take(const struct jinja_output *text, struct chat_prompt *out, struct err *e) {
    buf_init(&out->text, PROMPT_BYTES);
    buf_append(&out->text, text->text, text->n);
    out->data = mem_new(text->n_pieces + 1, sizeof *out->data);
    if (!out->data || out->text.failed != STATUS_OK) return err_set(e, STATUS_NO_MEMORY, "no memory for a prompt");
    for (size_t i = 0; i < text->n_pieces; i++) {
        const struct jinja_piece *piece = &text->pieces[i];
        if (piece->marked) out->data[out->n_data++] = (struct text_span){piece->begin, piece->end};
    }
    return STATUS_OK;
}

static enum status render(const struct chat_template *t, const struct chat_input *input, struct arena *a,
                          struct jinja_output *text, bool *read_date, struct err *e) {
    struct chat_values v = {.kwargs = input->kwargs, .switches = t->facts.switches, .date = input->date,
                            .add_generation_prompt = input->add_generation_prompt};
    enum status s = chat_normalise(&t->facts, input->messages, input->tools, a, &v.messages, &v.tools, e);
    if (s == STATUS_OK) s = chat_context_render(&t->context, a, &v, NULL, text, read_date, e);
    if (s == STATUS_OK) return s;
    return err_set(e, s, "the messages of a chat need more than %d bytes", MESSAGES_BYTES);
}

enum status chat_render(const struct chat_template *t, const struct chat_input *input, struct chat_prompt *out,
                        struct err *e) {
    struct jinja_output text = {0};
    struct arena arena;
    *out = (struct chat_prompt){0};
    arena_init(&arena, MESSAGES_BYTES);
    enum status s = render(t, input, &arena, &text, &out->read_date, e);
    if (s == STATUS_OK) s = take(&text, out, e);
    if (s == STATUS_OK) out->opens_reasoning = opens_reasoning(&t->facts, out);
    else chat_prompt_fini(out);
    jinja_output_fini(&text);
    arena_fini(&arena);
    return s;
}

enum status chat_encode(const struct chat_prompt *p, const struct tokenizer *tokenizer, struct ids *out,
                        struct err *e) {
    return tokenizer_encode_mixed(tokenizer, p->text.data ? p->text.data : "", p->text.n, p->data, p->n_data, out, e);
}
