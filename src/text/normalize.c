// Chains of normalizers; each step reads one text and writes the next.
#include "text/normalize.h"

#include "base/mem.h"
#include "text/char_map.h"
#include "text/normal_form.h"
#include "text/unicode.h"

#include <string.h>

enum { STEPS_MAX = 64 };

struct normalize_compiled {
    struct normalize_step step; // its texts owned
    struct regex *regex;
    struct char_map map;
};

static enum status compile(struct normalize_compiled *c, const struct normalize_step *step, struct err *e) {
    c->step = *step;
    c->step.text = mem_string(step->n ? step->text : "", step->n);
    c->step.with = mem_string(step->n_with ? step->with : "", step->n_with);
    if (!c->step.text || !c->step.with) return err_set(e, STATUS_NO_MEMORY, "no memory for a normalizer");
    if (step->kind == NORMALIZE_REPLACE_REGEX) return regex_new(step->text, step->n, &c->regex, e);
    if (step->kind == NORMALIZE_PRECOMPILED) return char_map_init(&c->map, c->step.text, step->n, e);
    return STATUS_OK;
}

enum status normalize_init(struct normalizer_chain *c, const struct normalize_step *steps, size_t n, struct err *e) {
    *c = (struct normalizer_chain){0};
    if (n > STEPS_MAX) return err_set(e, STATUS_TOO_LARGE, "a normalizer of %zu steps is too long", n);
    c->steps = mem_new(n, sizeof *c->steps);
    if (!c->steps) return err_set(e, STATUS_NO_MEMORY, "no memory for a normalizer");
    for (; c->n < n;) {
        c->n++;
        TRY(compile(&c->steps[c->n - 1], &steps[c->n - 1], e));
    }
    return STATUS_OK;
}

void normalize_fini(struct normalizer_chain *c) {
    for (size_t i = 0; i < c->n; i++) {
        regex_free(c->steps[i].regex);
        mem_free((char *)c->steps[i].step.text);
        mem_free((char *)c->steps[i].step.with);
    }
    mem_free(c->steps);
    *c = (struct normalizer_chain){0};
}

void normalize_scratch_fini(struct normalize_scratch *s) {
    buf_fini(&s->text);
    buf_fini(&s->next);
    regex_scratch_fini(&s->regex);
    *s = (struct normalize_scratch){0};
}

// --- steps ---

static void put(struct buf *out, uint32_t c) {
    char bytes[4];
    buf_append(out, bytes, utf8_put(c, bytes));
}

static void put_lower(struct buf *out, uint32_t c) {
    uint32_t low = 0, high = unicode_n_lower;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (unicode_lower[middle].from < c) low = middle + 1;
        else high = middle;
    }
    if (low == unicode_n_lower || unicode_lower[low].from != c) {
        put(out, c);
        return;
    }
    put(out, unicode_lower[low].to[0]);
    if (unicode_lower[low].to[1]) put(out, unicode_lower[low].to[1]);
}

static bool is_chinese(uint32_t c) {
    static const uint32_t ranges[][2] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},  {0x20000, 0x2a6df},
                                         {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

static void map_char(struct buf *out, enum normalize_kind kind, uint32_t c) {
    unsigned class = unicode_class(c);
    switch (kind) {
    case NORMALIZE_LOWERCASE: put_lower(out, c); break;
    case NORMALIZE_STRIP_ACCENTS:
        if (!(class & UNICODE_ACCENT)) put(out, c);
        break;
    case NORMALIZE_BERT_ACCENTS:
        if (!(class & UNICODE_BERT_ACCENT)) put(out, c);
        break;
    case NORMALIZE_BERT_CLEAN:
        if (!(class & UNICODE_BERT_CONTROL)) put(out, class & UNICODE_SPACE ? ' ' : c);
        break;
    default: // NORMALIZE_BERT_CHINESE
        if (is_chinese(c)) buf_byte(out, ' ');
        put(out, c);
        if (is_chinese(c)) buf_byte(out, ' ');
        break;
    }
}

static void map_all(struct buf *out, enum normalize_kind kind, const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t c;
        bool bad;
        i += utf8_next(text + i, n - i, &c, &bad);
        map_char(out, kind, c);
    }
}

static void strip(struct buf *out, const struct normalize_step *s, const char *text, size_t n) {
    size_t begin = s->left ? unicode_run(text, n, UNICODE_SPACE) : 0, length;
    while (s->right && n > begin && unicode_class_before(text + begin, n - begin, &length) & UNICODE_SPACE) n -= length;
    buf_append(out, text + begin, n - begin);
}

static void replace(struct buf *out, const struct normalize_step *s, const char *text, size_t n) {
    const char *end = text + n, *next;
    while (s->n && (next = memmem(text, (size_t)(end - text), s->text, s->n))) {
        buf_append(out, text, (size_t)(next - text));
        buf_append(out, s->with, s->n_with);
        text = next + s->n;
    }
    buf_append(out, text, (size_t)(end - text));
}

static enum status replace_regex(struct buf *out, const struct normalize_compiled *c, struct regex_scratch *scratch,
                                 const char *text, size_t n, struct err *e) {
    struct regex_walk w;
    size_t done = 0;
    regex_begin(&w, c->regex, scratch, text, n);
    for (;;) {
        bool found;
        size_t begin, end;
        TRY(regex_next(&w, &found, &begin, &end, e));
        if (!found) break;
        buf_append(out, text + done, begin - done);
        buf_append(out, c->step.with, c->step.n_with);
        done = end;
    }
    buf_append(out, text + done, n - done);
    return STATUS_OK;
}

static enum status run_step(const struct normalize_compiled *c, struct normalize_scratch *s, const char *text, size_t n,
                            struct err *e) {
    struct buf *out = &s->next;
    switch (c->step.kind) {
    case NORMALIZE_NFC:
    case NORMALIZE_NFD:
    case NORMALIZE_NFKC:
    case NORMALIZE_NFKD:
        return normal_form_append((enum normal_form)(c->step.kind - NORMALIZE_NFC), text, n, out, e);
    case NORMALIZE_STRIP: strip(out, &c->step, text, n); break;
    case NORMALIZE_REPLACE: replace(out, &c->step, text, n); break;
    case NORMALIZE_REPLACE_REGEX: return replace_regex(out, c, &s->regex, text, n, e);
    case NORMALIZE_PREPEND:
        if (n) buf_append(out, c->step.with, c->step.n_with);
        buf_append(out, text, n);
        break;
    case NORMALIZE_PRECOMPILED: char_map_append(&c->map, text, n, out); break;
    default: map_all(out, c->step.kind, text, n); break;
    }
    return STATUS_OK;
}

// Is the text certainly left as it is?
static bool stays(const struct normalize_step *s, const char *text, size_t n) {
    return s->kind <= NORMALIZE_NFKD && normal_form_quick_check((enum normal_form)(s->kind - NORMALIZE_NFC), text, n);
}

enum status normalize_run(const struct normalizer_chain *c, struct normalize_scratch *s, const char *text, size_t n,
                          const char **out, size_t *n_out, struct err *e) {
    if (!s->ready) {
        buf_init(&s->text, SIZE_MAX / 2);
        buf_init(&s->next, SIZE_MAX / 2);
        s->ready = true;
    }
    for (size_t i = 0; i < c->n; i++) {
        if (stays(&c->steps[i].step, text, n)) continue;
        buf_reset(&s->next);
        TRY(run_step(&c->steps[i], s, text, n, e));
        if (s->next.failed != STATUS_OK) return err_set(e, s->next.failed, "the normalized text does not fit");
        struct buf made = s->next;
        s->next = s->text;
        s->text = made;
        text = made.n ? made.data : "";
        n = made.n;
    }
    *out = text;
    *n_out = n;
    return STATUS_OK;
}
