// The reasoning splitter: a machine over bytes that holds back white space and the beginning of a marker.
#include "text/reasoning.h"

#include "base/mem.h"

#include <string.h>

// White space that may frame a thought is held up to this length; a longer run belongs to the text.
enum { SPACE_MAX = 256, MARK_MAX = 64 };

enum state {
    STATE_START,  // nothing but white space and a beginning of the open mark has come
    STATE_LEAD,   // inside the block, before its first character; an open mark that the prompt gave already is dropped
    STATE_THOUGHT,
    STATE_GAP,    // behind the close mark
    STATE_ANSWER
};

struct mark {
    char text[MARK_MAX];
    size_t n;
    size_t border[MARK_MAX]; // length of the longest proper prefix of text[0..i] that is also its suffix
};

struct reasoning {
    struct mark open, close;
    enum state state;
    bool may_open;         // in STATE_LEAD: the open mark has not come yet
    size_t matched;        // bytes of the mark being matched that the input ends with
    size_t n_space;        // white space held in front of them
    char space[SPACE_MAX];
};

struct output {
    reasoning_sink *sink;
    void *context;
};

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static size_t advance(const struct mark *m, size_t matched, char c) {
    while (matched > 0 && (matched == m->n || m->text[matched] != c)) matched = m->border[matched - 1];
    return matched + (m->text[matched] == c);
}

static enum status set_mark(struct mark *m, const char *text, struct err *e) {
    m->n = strlen(text);
    bool spaced = false;
    for (size_t i = 0; i < m->n; i++) spaced = spaced || is_space(text[i]);
    if (m->n == 0 || m->n >= MARK_MAX || spaced) {
        return err_set(e, STATUS_INVALID, "a marker of reasoning has 1 to %d bytes and no white space: \"%.80s\"",
                       MARK_MAX - 1, text);
    }
    memcpy(m->text, text, m->n);
    for (size_t i = 1; i < m->n; i++) m->border[i] = advance(m, m->border[i - 1], text[i]);
    return STATUS_OK;
}

enum status reasoning_new(const char *open, const char *close, bool inside, struct reasoning **out, struct err *e) {
    *out = NULL;
    struct reasoning *r = mem_new(1, sizeof *r);
    if (!r) return err_set(e, STATUS_NO_MEMORY, "no memory to split reasoning");
    bool marks = open && close;
    enum status s = marks ? set_mark(&r->open, open, e) : STATUS_OK;
    if (s == STATUS_OK && marks) s = set_mark(&r->close, close, e);
    r->state = !marks ? STATE_ANSWER : inside ? STATE_LEAD : STATE_START;
    r->may_open = inside;
    if (s == STATUS_OK) *out = r;
    else reasoning_free(r);
    return s;
}

void reasoning_free(struct reasoning *r) { mem_free(r); }

static void give(const struct output *o, enum reasoning_part part, const char *text, size_t n) {
    if (n) o->sink(o->context, part, text, n);
}

static void give_space(struct reasoning *r, const struct output *o, enum reasoning_part part) {
    give(o, part, r->space, r->n_space);
    r->n_space = 0;
}

// One byte inside the block. Held are white space and, behind it, `matched` bytes of the close mark.
static void think(struct reasoning *r, char c, const struct output *o) {
    size_t held = r->matched;
    r->matched = advance(&r->close, held, c);
    if (r->matched == r->close.n) {
        r->matched = r->n_space = 0;
        r->state = STATE_GAP;
        return;
    }
    if (r->matched == held + 1) return;
    if (is_space(c)) {
        if (held) give_space(r, o, REASONING_THOUGHT);
        give(o, REASONING_THOUGHT, r->close.text, held);
        if (r->n_space == SPACE_MAX) give_space(r, o, REASONING_THOUGHT);
        r->space[r->n_space++] = c;
        return;
    }
    give_space(r, o, REASONING_THOUGHT);
    if (r->matched == 0) {
        give(o, REASONING_THOUGHT, r->close.text, held);
        give(o, REASONING_THOUGHT, &c, 1);
    } else { // the mark begins anew inside what was held
        give(o, REASONING_THOUGHT, r->close.text, held + 1 - r->matched);
    }
}

// The bytes of the open mark that were held turn out to be text of the block.
static void think_held(struct reasoning *r, const struct output *o) {
    size_t n = r->matched;
    r->matched = 0;
    r->state = STATE_THOUGHT;
    for (size_t i = 0; i < n; i++) think(r, r->open.text[i], o);
}

static void lead(struct reasoning *r, char c, const struct output *o) {
    if (r->may_open && r->open.text[r->matched] == c) {
        if (++r->matched < r->open.n) return;
        r->matched = 0;
        r->may_open = false;
        return;
    }
    if (r->matched == 0 && is_space(c)) return;
    think_held(r, o);
    if (r->state == STATE_THOUGHT) think(r, c, o);
}

static void start(struct reasoning *r, char c, const struct output *o) {
    if (r->open.text[r->matched] == c) {
        if (++r->matched < r->open.n) return;
        r->matched = r->n_space = 0;
        r->state = STATE_LEAD;
        return;
    }
    bool more_space = r->matched == 0 && is_space(c) && r->n_space < SPACE_MAX;
    if (more_space) {
        r->space[r->n_space++] = c;
        return;
    }
    give_space(r, o, REASONING_ANSWER);
    give(o, REASONING_ANSWER, r->open.text, r->matched);
    give(o, REASONING_ANSWER, &c, 1);
    r->matched = 0;
    r->state = STATE_ANSWER;
}

// Plain bytes of a thought, from where nothing is held: as many as need no closer look.
static size_t plain_run(const struct reasoning *r, const char *text, size_t n) {
    size_t i = 0;
    if (r->state != STATE_THOUGHT || r->matched || r->n_space) return 0;
    while (i < n && !is_space(text[i]) && text[i] != r->close.text[0]) i++;
    return i;
}

void reasoning_feed(struct reasoning *r, const char *text, size_t n, reasoning_sink *sink, void *context) {
    const struct output o = {sink, context};
    for (size_t i = 0; i < n;) {
        if (r->state == STATE_ANSWER) {
            give(&o, REASONING_ANSWER, text + i, n - i);
            return;
        }
        size_t run = plain_run(r, text + i, n - i);
        give(&o, REASONING_THOUGHT, text + i, run);
        i += run;
        if (i == n || run) continue;
        char c = text[i];
        if (r->state == STATE_GAP && !is_space(c)) {
            r->state = STATE_ANSWER;
            continue;
        }
        if (r->state == STATE_START) start(r, c, &o);
        else if (r->state == STATE_LEAD) lead(r, c, &o);
        else if (r->state == STATE_THOUGHT) think(r, c, &o);
        i++;
    }
}

void reasoning_finish(struct reasoning *r, reasoning_sink *sink, void *context) {
    const struct output o = {sink, context};
    if (r->state == STATE_START) {
        give_space(r, &o, REASONING_ANSWER);
        give(&o, REASONING_ANSWER, r->open.text, r->matched);
    } else if (r->state == STATE_LEAD) {
        give(&o, REASONING_THOUGHT, r->open.text, r->matched);
    } else if (r->state == STATE_THOUGHT && r->matched) {
        give_space(r, &o, REASONING_THOUGHT);
        give(&o, REASONING_THOUGHT, r->close.text, r->matched);
    }
    r->matched = r->n_space = 0;
    r->state = STATE_ANSWER;
}

enum reasoning_part reasoning_where(const struct reasoning *r) {
    return r->state == STATE_LEAD || r->state == STATE_THOUGHT ? REASONING_THOUGHT : REASONING_ANSWER;
}
