// Stop strings as one Knuth-Morris-Pratt automaton each: linear in the text whatever the strings are.
#include "text/stop.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

struct stop_string {
    char *text;
    size_t n;
    size_t *border; // [n] length of the longest proper prefix of text[0..i] that is also its suffix
    size_t state;   // bytes of `text` that the newest input ends with
};

struct stop_matcher {
    struct stop_string strings[STOP_STRINGS_MAX];
    size_t n;
    size_t n_held; // the newest bytes, not yet given out; they are a prefix of some string
    char *held;    // [longest string]
    int matched;
};

static size_t advance(const struct stop_string *s, size_t state, char c) {
    while (state > 0 && (state == s->n || s->text[state] != c)) state = s->border[state - 1];
    return state + (s->text[state] == c);
}

static enum status add_string(struct stop_matcher *m, const char *text, size_t n, struct err *e) {
    if (n == 0) return err_set(e, STATUS_INVALID, "a stop string is empty");
    if (n > STOP_BYTES_MAX) {
        return err_set(e, STATUS_TOO_LARGE, "a stop string has %zu bytes, over %d", n, STOP_BYTES_MAX);
    }
    struct stop_string *s = &m->strings[m->n++];
    s->n = n;
    s->text = mem_string(text, n);
    s->border = mem_new(n, sizeof *s->border);
    if (!s->text || !s->border) return err_set(e, STATUS_NO_MEMORY, "no memory for stop strings");
    for (size_t i = 1; i < n; i++) s->border[i] = advance(s, s->border[i - 1], text[i]);
    return STATUS_OK;
}

enum status stop_new(const char *const *strings, const size_t *bytes, size_t n, struct stop_matcher **out,
                     struct err *e) {
    *out = NULL;
    if (n > STOP_STRINGS_MAX) {
        return err_set(e, STATUS_TOO_LARGE, "%zu stop strings, over %d", n, STOP_STRINGS_MAX);
    }
    struct stop_matcher *m = mem_new(1, sizeof *m);
    if (!m) return err_set(e, STATUS_NO_MEMORY, "no memory for stop strings");
    m->matched = -1;
    size_t longest = 1;
    enum status s = STATUS_OK;
    for (size_t i = 0; i < n && s == STATUS_OK; i++) {
        s = add_string(m, strings[i], bytes[i], e);
        if (bytes[i] > longest) longest = bytes[i];
    }
    if (s == STATUS_OK && !(m->held = mem_new(longest, 1))) {
        s = err_set(e, STATUS_NO_MEMORY, "no memory for stop strings");
    }
    if (s == STATUS_OK) {
        *out = m;
    } else {
        stop_free(m);
    }
    return s;
}

void stop_free(struct stop_matcher *m) {
    if (!m) return;
    for (size_t i = 0; i < m->n; i++) {
        mem_free(m->strings[i].text);
        mem_free(m->strings[i].border);
    }
    mem_free(m->held);
    mem_free(m);
}

// Gives out the oldest held bytes until `keep` are left.
static void give_out(struct stop_matcher *m, size_t keep, struct buf *out) {
    size_t n = m->n_held - keep;
    if (n == 0) return;
    buf_append(out, m->held, n);
    memmove(m->held, m->held + n, keep);
    m->n_held = keep;
}

static bool push_byte(struct stop_matcher *m, char c, struct buf *out) {
    size_t keep = 0, complete = 0;
    for (size_t i = 0; i < m->n; i++) {
        struct stop_string *s = &m->strings[i];
        s->state = advance(s, s->state, c);
        if (s->state > keep) keep = s->state;
        if (s->state == s->n && s->n > complete) {
            complete = s->n;
            m->matched = (int)i;
        }
    }
    if (keep == 0) { // nothing held can matter any more, nor can this byte
        give_out(m, 0, out);
        buf_byte(out, c);
        return false;
    }
    size_t before = complete ? complete - 1 : keep - 1; // held bytes that stay, besides this one
    give_out(m, before, out);
    m->held[m->n_held++] = c;
    return complete > 0;
}

bool stop_push(struct stop_matcher *m, const char *text, size_t n, struct buf *out) {
    if (m->matched >= 0) return true;
    if (m->n == 0) {
        buf_append(out, text, n);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (push_byte(m, text[i], out)) return true;
    }
    return false;
}

void stop_end(struct stop_matcher *m, struct buf *out) {
    if (m->matched < 0) give_out(m, 0, out);
    m->n_held = 0;
}

int stop_matched(const struct stop_matcher *m) { return m->matched; }
