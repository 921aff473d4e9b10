// Regular expressions on PCRE2: compiled once to machine code, matched under a limit of steps.
#include "text/regex.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { PATTERN_BYTES_MAX = 8192, TRANSLATED_BYTES_MAX = 8 << 20, SHOWN = 200 };
enum { STEPS_MAX = 1000000, HEAP_KIB_MAX = 64 << 10, STACK_BYTES = 32 << 10, STACK_BYTES_MAX = 1 << 20 };

struct regex {
    pcre2_code *code;
};

static void *take(size_t n, void *data) {
    (void)data;
    return mem_new(n, 1);
}

static void give(void *p, void *data) {
    (void)data;
    mem_free(p);
}

// *code says what went wrong.
static pcre2_code *compile_text(const struct buf *text, int *code) {
    pcre2_general_context *memory = pcre2_general_context_create(take, give, NULL);
    pcre2_compile_context *context = memory ? pcre2_compile_context_create(memory) : NULL;
    pcre2_code *made = NULL;
    *code = PCRE2_ERROR_NOMEMORY;
    if (context) {
        size_t at;
        pcre2_set_newline(context, PCRE2_NEWLINE_LF);
        made = pcre2_compile((PCRE2_SPTR)(text->n ? text->data : ""), text->n,
                             PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_NEVER_BACKSLASH_C, code, &at, context);
    }
    pcre2_compile_context_free(context);
    pcre2_general_context_free(memory);
    return made;
}

// PCRE2 bounds the size of a compiled pattern, which many large classes exceed: then they are shared.
static enum status compile(struct regex *r, const char *pattern, size_t n, struct err *e) {
    struct buf text;
    int code = 0;
    enum status status = STATUS_OK;
    buf_init(&text, TRANSLATED_BYTES_MAX);
    for (int shared = 0; shared < 2 && status == STATUS_OK && !r->code; shared++) {
        buf_reset(&text);
        status = regex_translate(pattern, n, shared, &text, e);
        if (status == STATUS_OK) r->code = compile_text(&text, &code);
    }
    buf_fini(&text);
    if (status != STATUS_OK || r->code) return status;
    char why[128];
    if (code == PCRE2_ERROR_NOMEMORY) return err_set(e, STATUS_NO_MEMORY, "no memory for a regular expression");
    pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
    return err_set(e, STATUS_UNSUPPORTED, "the regular expression %.*s is not supported: %s",
                   (int)(n < SHOWN ? n : SHOWN), pattern, why);
}

enum status regex_new(const char *pattern, size_t n, struct regex **out, struct err *e) {
    if (n > PATTERN_BYTES_MAX) return err_set(e, STATUS_TOO_LARGE, "a regular expression of %zu bytes is too long", n);
    struct regex *r = mem_new(1, sizeof *r);
    if (!r) return err_set(e, STATUS_NO_MEMORY, "no memory for a regular expression");
    enum status status = compile(r, pattern, n, e);
    if (status != STATUS_OK) {
        mem_free(r);
        return status;
    }
    pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE); // where there is none, matching is slower
    *out = r;
    return STATUS_OK;
}

void regex_free(struct regex *r) {
    if (!r) return;
    pcre2_code_free(r->code);
    mem_free(r);
}

void regex_scratch_fini(struct regex_scratch *s) {
    pcre2_match_data_free(s->match);
    pcre2_match_context_free(s->context);
    pcre2_jit_stack_free(s->stack);
    *s = (struct regex_scratch){0};
}

static bool scratch_ready(struct regex_scratch *s) {
    if (s->match) return true;
    regex_scratch_fini(s);
    pcre2_general_context *memory = pcre2_general_context_create(take, give, NULL);
    if (!memory) return false;
    s->context = pcre2_match_context_create(memory);
    s->stack = pcre2_jit_stack_create(STACK_BYTES, STACK_BYTES_MAX, memory); // NULL where there is no JIT
    if (s->context) {
        pcre2_set_match_limit(s->context, STEPS_MAX);
        pcre2_set_heap_limit(s->context, HEAP_KIB_MAX);
        if (s->stack) pcre2_jit_stack_assign(s->context, NULL, s->stack);
        s->match = pcre2_match_data_create(1, memory);
    }
    pcre2_general_context_free(memory);
    return s->match;
}

void regex_begin(struct regex_walk *w, const struct regex *r, struct regex_scratch *s, const char *text, size_t n) {
    *w = (struct regex_walk){.regex = r, .scratch = s, .text = text, .n = n, .last_end = SIZE_MAX};
}

// The leftmost match at or after w->at.
static enum status search(struct regex_walk *w, bool *found, size_t *begin, size_t *end, struct err *e) {
    struct regex_scratch *s = w->scratch;
    PCRE2_SPTR text = (PCRE2_SPTR)w->text;
    int code = pcre2_match(w->regex->code, text, w->n, w->at, PCRE2_NO_UTF_CHECK, s->match, s->context);
    if (code == PCRE2_ERROR_JIT_STACKLIMIT)
        code = pcre2_match(w->regex->code, text, w->n, w->at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, s->match, s->context);
    *found = code >= 0;
    if (*found) {
        const size_t *span = pcre2_get_ovector_pointer(s->match);
        *begin = span[0];
        *end = span[1];
    }
    if (*found || code == PCRE2_ERROR_NOMATCH) return STATUS_OK;
    return err_set(e, STATUS_TOO_LARGE, "the tokenizer's regular expression takes too long on this text");
}

// An empty match right behind the match before does not count, as in `tokenizers`.
enum status regex_next(struct regex_walk *w, bool *found, size_t *begin, size_t *end, struct err *e) {
    if (!scratch_ready(w->scratch)) return err_set(e, STATUS_NO_MEMORY, "no memory for a regular expression");
    for (*found = false; w->at <= w->n;) {
        TRY(search(w, found, begin, end, e));
        if (!*found) return STATUS_OK;
        if (*begin < *end || *end != w->last_end) {
            w->at = w->last_end = *end;
            return STATUS_OK;
        }
        uint32_t c;
        bool bad;
        *found = false;
        w->at += w->at < w->n ? utf8_next(w->text + w->at, w->n - w->at, &c, &bad) : 1;
    }
    return STATUS_OK;
}
