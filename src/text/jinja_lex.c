// Splitting a template into text and tags, with trim_blocks, lstrip_blocks and the - and + signs.
#include "text/jinja_lex.h"

#include "base/utf8.h"
#include "text/jinja_lex_tag.h"
#include "text/jinja_text.h"

#include <string.h>

const char *jinja_token_text(enum jinja_token_kind kind) {
    static const char *const texts[] = {
#define X(name, text) text,
        JINJA_TOKEN_LIST(X)
#undef X
    };
    return texts[kind];
}

enum status jinja_lex_fail(struct jinja_lexer *x, size_t offset, const char *message, const char *detail) {
    uint32_t line = 1;
    size_t begin = 0;
    for (size_t i = 0; i < offset && i < x->n; i++) {
        if (x->source[i] != '\n') continue;
        line++;
        begin = i + 1;
    }
    return err_set(x->e, STATUS_INVALID, "line %u, column %zu: %s%s", line, offset - begin + 1, message, detail);
}

enum status jinja_lex_push(struct jinja_lexer *x, enum jinja_token_kind kind, size_t begin, size_t end,
                           struct jinja_token **out) {
    struct jinja_tokens *t = x->tokens;
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 64;
        struct jinja_token *bigger = arena_new(x->arena, cap, sizeof *bigger);
        if (!bigger) return err_set(x->e, STATUS_TOO_LARGE, "the template needs too much memory");
        if (t->n) memcpy(bigger, t->at, t->n * sizeof *bigger);
        t->at = bigger;
        t->cap = cap;
    }
    for (; x->counted < begin; x->counted++) { // tokens come in order, so lines are counted once
        if (x->source[x->counted] != '\n') continue;
        x->line++;
        x->line_begin = x->counted + 1;
    }
    struct jinja_token *token = &t->at[t->n++];
    *token = (struct jinja_token){.kind = kind, .text = x->source + begin, .n = end - begin, .line = x->line,
                                  .column = (uint32_t)(begin - x->line_begin + 1)};
    if (out) *out = token;
    return STATUS_OK;
}

bool jinja_lex_at(const struct jinja_lexer *x, size_t at, const char *text) {
    size_t n = strlen(text);
    return at <= x->n && x->n - at >= n && memcmp(x->source + at, text, n) == 0;
}

// After a tag that ends at `at`: '-' drops all white space that follows, no sign drops one line feed of a block.
static size_t after_tag(const struct jinja_lexer *x, size_t at, char sign, bool block) {
    if (sign == '-') return at + jinja_skip_space(x->source + at, x->n - at);
    if (sign == 0 && block && at < x->n && x->source[at] == '\n') return at + 1;
    return at;
}

size_t jinja_lex_close(const struct jinja_lexer *x, size_t at, const char *close, bool block) {
    char sign = 0;
    if (at < x->n && (x->source[at] == '-' || (block && x->source[at] == '+'))) sign = x->source[at];
    if (!jinja_lex_at(x, at + (sign != 0), close)) return 0;
    return after_tag(x, at + (sign != 0) + strlen(close), sign, block);
}

static char sign_at(const struct jinja_lexer *x, size_t at) {
    return at < x->n && (x->source[at] == '-' || x->source[at] == '+') ? x->source[at] : 0;
}

// The text [begin, end) in front of a tag, less what the tag's sign or lstrip_blocks takes away.
static enum status push_text(struct jinja_lexer *x, size_t begin, size_t end, char sign, bool block) {
    const char *text = x->source + begin;
    size_t n = end - begin;
    if (sign == '-') n = jinja_trim_space(text, n);
    else if (sign == 0 && block) {
        const char *feed = n ? memrchr(text, '\n', n) : NULL;
        size_t line = feed ? (size_t)(feed - text) + 1 : 0;
        if ((line > 0 || x->line_starting) && jinja_skip_space(text + line, n - line) == n - line) n = line;
    }
    return n ? jinja_lex_push(x, JINJA_TOKEN_TEXT, begin, begin + n, NULL) : STATUS_OK;
}

static size_t skip_word(const struct jinja_lexer *x, size_t at, const char *word) {
    at += jinja_skip_space(x->source + at, x->n - at);
    if (!jinja_lex_at(x, at, word)) return 0;
    at += strlen(word);
    return at + jinja_skip_space(x->source + at, x->n - at);
}

// Where the raw block whose tag opens at `at` ("{%") has its text, or 0.
static size_t raw_begin(const struct jinja_lexer *x, size_t at) {
    at += 2;
    at = skip_word(x, at + (sign_at(x, at) != 0), "raw");
    if (!at) return 0;
    if (jinja_lex_at(x, at, "%}")) return at + 2;
    return jinja_lex_at(x, at, "-%}") ? after_tag(x, at + 3, '-', true) : 0;
}

static enum status lex_raw(struct jinja_lexer *x, size_t tag) {
    size_t begin = x->at;
    x->line_starting = x->source[begin - 1] == '\n';
    for (size_t at = begin; at + 2 <= x->n; at++) {
        if (!jinja_lex_at(x, at, "{%")) continue;
        char sign = sign_at(x, at + 2);
        size_t end = skip_word(x, at + 2 + (sign != 0), "endraw");
        if (end) end = jinja_lex_close(x, end, "%}", true);
        if (!end) continue;
        x->at = end;
        return push_text(x, begin, at, sign, true);
    }
    return jinja_lex_fail(x, tag, "Missing end of raw directive", "");
}

static enum status lex_comment(struct jinja_lexer *x, size_t tag, size_t begin) {
    const char *close = memmem(x->source + begin, x->n - begin, "#}", 2);
    if (!close) return jinja_lex_fail(x, tag, "Missing end of comment tag", "");
    size_t at = (size_t)(close - x->source);
    x->at = after_tag(x, at + 2, at > begin ? sign_at(x, at - 1) : 0, true);
    return STATUS_OK;
}

static enum status lex_tag(struct jinja_lexer *x, size_t tag, char kind) {
    if (kind == '%' && raw_begin(x, tag)) {
        x->at = raw_begin(x, tag);
        return lex_raw(x, tag);
    }
    size_t begin = tag + 2 + (sign_at(x, tag + 2) != 0);
    if (kind == '#') return lex_comment(x, tag, begin);
    x->at = begin;
    TRY(jinja_lex_push(x, kind == '{' ? JINJA_TOKEN_PRINT_BEGIN : JINJA_TOKEN_BLOCK_BEGIN, tag, begin, NULL));
    return jinja_lex_expression(x, kind == '%');
}

// Offset of the next "{{", "{%" or "{#", or n.
static size_t next_tag(const struct jinja_lexer *x, size_t from) {
    while (from + 1 < x->n) {
        const char *brace = memchr(x->source + from, '{', x->n - from - 1);
        if (!brace) break;
        if (brace[1] == '{' || brace[1] == '%' || brace[1] == '#') return (size_t)(brace - x->source);
        from = (size_t)(brace - x->source) + 1;
    }
    return x->n;
}

static enum status lex_all(struct jinja_lexer *x) {
    x->line_starting = true;
    while (x->at < x->n) {
        size_t tag = next_tag(x, x->at);
        if (tag == x->n) return jinja_lex_push(x, JINJA_TOKEN_TEXT, x->at, tag, NULL);
        char kind = x->source[tag + 1];
        TRY(push_text(x, x->at, tag, sign_at(x, tag + 2), kind != '{'));
        TRY(lex_tag(x, tag, kind));
        x->line_starting = x->source[x->at - 1] == '\n';
    }
    return STATUS_OK;
}

// All line ends become line feeds, and one at the very end is dropped.
static const char *normalize(struct arena *a, const char *text, size_t *n) {
    char *out = arena_new(a, *n + 1, 1);
    size_t length = 0;
    if (!out) return NULL;
    for (size_t i = 0; i < *n; i++) {
        if (text[i] == '\r' && i + 1 < *n && text[i + 1] == '\n') continue;
        out[length++] = text[i] == '\r' ? '\n' : text[i];
    }
    if (length && out[length - 1] == '\n') length--;
    *n = length;
    return out;
}

enum status jinja_lex(struct arena *a, const char *text, size_t n, struct jinja_tokens *out, struct err *e) {
    if (n > JINJA_SOURCE_MAX) return err_set(e, STATUS_TOO_LARGE, "a template has at most %d bytes", JINJA_SOURCE_MAX);
    if (!utf8_valid(text, n)) return err_set(e, STATUS_INVALID, "the template is not valid UTF-8");
    *out = (struct jinja_tokens){0};
    struct jinja_lexer x = {.arena = a, .tokens = out, .e = e, .line = 1, .n = n};
    x.source = normalize(a, text, &x.n);
    if (!x.source) return err_set(e, STATUS_TOO_LARGE, "the template needs too much memory");
    TRY(lex_all(&x));
    return jinja_lex_push(&x, JINJA_TOKEN_END, x.n, x.n, NULL);
}
