// Chains of pre-tokenizer steps: each finds its matches in every piece and says what becomes of them.
#include "text/split.h"

#include "base/mem.h"
#include "text/pretokenize.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

#include <string.h>

enum { STEPS_MAX = 64 };

struct split_compiled {
    struct split_step step; // its text owned
    struct regex *regex;
    size_t (*match)(const char *s, size_t n); // of a pattern that is known by hand
};

// A match, or what lies between two.
struct split_part {
    size_t begin, end;
    bool is_match;
};

// --- building ---

static bool is_pattern(const struct split_step *s, const char *pattern) {
    return pattern && s->kind == SPLIT_REGEX && strlen(pattern) == s->n && memcmp(pattern, s->text, s->n) == 0;
}

// The hand-written match of a pattern, NULL for none. Those with a run rely on the levels before them.
static size_t (*known_match(const struct split_step *s))(const char *, size_t) {
    for (int kind = 0; kind < PRETOKENIZER_COUNT; kind++) {
        size_t n;
        const struct pretokenize_level *levels = pretokenize_levels((enum pretokenizer)kind, &n);
        for (size_t i = 0; i < n; i++)
            if (!levels[i].run && is_pattern(s, levels[i].pattern)) return levels[i].match;
    }
    return NULL;
}

static enum status compile(struct split_compiled *c, const struct split_step *step, struct err *e) {
    c->step = *step;
    c->step.text = mem_string(step->n ? step->text : "", step->n);
    if (!c->step.text) return err_set(e, STATUS_NO_MEMORY, "no memory for a pre-tokenizer");
    if (step->kind != SPLIT_REGEX || (c->match = known_match(step))) return STATUS_OK;
    return regex_new(step->text, step->n, &c->regex, e);
}

enum status split_init(struct split_chain *c, const struct split_step *steps, size_t n, struct err *e) {
    *c = (struct split_chain){0};
    if (n > STEPS_MAX) return err_set(e, STATUS_TOO_LARGE, "a pre-tokenizer of %zu steps is too long", n);
    c->steps = mem_new(n, sizeof *c->steps);
    if (!c->steps) return err_set(e, STATUS_NO_MEMORY, "no memory for a pre-tokenizer");
    for (; c->n < n;) {
        if (steps[c->n].kind >= SPLIT_PREFIX_SPACE) c->edits = true;
        if (steps[c->n].kind == SPLIT_ALPHABET) c->alphabet = true;
        c->n++;
        TRY(compile(&c->steps[c->n - 1], &steps[c->n - 1], e));
    }
    return STATUS_OK;
}

void split_fini(struct split_chain *c) {
    for (size_t i = 0; i < c->n; i++) {
        regex_free(c->steps[i].regex);
        mem_free((char *)c->steps[i].step.text);
    }
    mem_free(c->steps);
    *c = (struct split_chain){0};
}

static bool is_level(const struct split_step *s, const struct pretokenize_level *level) {
    if (s->behaviour != SPLIT_ISOLATED || s->invert) return false;
    if (!level->pattern) return s->kind == SPLIT_CLASS && s->classes == UNICODE_DIGIT;
    return is_pattern(s, level->pattern);
}

enum pretokenizer split_known(const struct split_step *steps, size_t n) {
    int kind = 0;
    for (; kind < PRETOKENIZER_COUNT; kind++) {
        size_t n_levels, i = 0;
        const struct pretokenize_level *levels = pretokenize_levels((enum pretokenizer)kind, &n_levels);
        while (n == n_levels && i < n && is_level(&steps[i], &levels[i])) i++;
        if (n == n_levels && i == n) break;
    }
    return (enum pretokenizer)kind;
}

void split_scratch_fini(struct split_scratch *s) {
    mem_free(s->pieces);
    mem_free(s->next);
    mem_free(s->parts);
    buf_fini(&s->text);
    buf_fini(&s->next_text);
    regex_scratch_fini(&s->regex);
    *s = (struct split_scratch){0};
}

// --- one piece: matches and what lies between ---

struct run {
    const struct split_compiled *c;
    struct split_scratch *s;
    const char *text; // what pieces are spans of
    struct err *e;
};

static enum status no_memory(struct err *e) {
    return err_set(e, STATUS_NO_MEMORY, "no memory for the pieces of a text");
}

static enum status add_part(struct run *r, size_t begin, size_t end, bool is_match) {
    struct split_scratch *s = r->s;
    if (s->n_parts == s->cap_parts) {
        size_t cap = s->cap_parts ? 2 * s->cap_parts : 64;
        struct split_part *parts = mem_resize(s->parts, cap, sizeof *parts);
        if (!parts) return no_memory(r->e);
        s->parts = parts;
        s->cap_parts = cap;
    }
    s->parts[s->n_parts++] = (struct split_part){begin, end, is_match != r->c->step.invert};
    return STATUS_OK;
}

// Adds the match [begin, end) and the gap before it; everything before *done has been added.
static enum status add_match(struct run *r, size_t *done, size_t begin, size_t end) {
    if (begin > *done) TRY(add_part(r, *done, begin, false));
    *done = end;
    return add_part(r, begin, end, true);
}

static enum status regex_parts(struct run *r, const char *text, size_t n, size_t *done) {
    struct regex_walk w;
    regex_begin(&w, r->c->regex, &r->s->regex, text, n);
    for (;;) {
        bool found;
        size_t begin, end;
        TRY(regex_next(&w, &found, &begin, &end, r->e));
        if (!found) return STATUS_OK;
        TRY(add_match(r, done, begin, end));
    }
}

static size_t word_at(const char *text, size_t n) {
    size_t at = unicode_run(text, n, UNICODE_WORD), length;
    if (at) return at;
    while (at < n && !(unicode_class_at(text + at, n - at, &length) & (UNICODE_WORD | UNICODE_SPACE))) at += length;
    return at;
}

// Bytes of the match at text[0..n), 0 for none.
static size_t match_at(const struct split_compiled *c, const char *text, size_t n) {
    const struct split_step *s = &c->step;
    size_t length;
    if (c->match) return c->match(text, n);
    if (s->kind == SPLIT_TEXT) return s->n <= n && memcmp(text, s->text, s->n) == 0 ? s->n : 0;
    if (s->kind == SPLIT_WORDS) return word_at(text, n);
    return unicode_class_at(text, n, &length) & s->classes ? length : 0;
}

static enum status find_parts(struct run *r, const char *text, size_t n) {
    size_t done = 0;
    r->s->n_parts = 0;
    if (r->c->regex) TRY(regex_parts(r, text, n, &done));
    for (size_t at = 0, length; at < n && !r->c->regex; at += length) {
        length = match_at(r->c, text + at, n - at);
        if (length) TRY(add_match(r, &done, at, at + length));
        else unicode_class_at(text + at, n - at, &length);
    }
    return done < n ? add_part(r, done, n, false) : STATUS_OK;
}

// --- what becomes of the parts ---

static enum status add_piece(struct run *r, size_t begin, size_t end) {
    struct split_scratch *s = r->s;
    if (begin == end) return STATUS_OK;
    if (s->n_next == s->cap_next) {
        size_t cap = s->cap_next ? 2 * s->cap_next : 64;
        struct text_span *next = mem_resize(s->next, cap, sizeof *next);
        if (!next) return no_memory(r->e);
        s->next = next;
        s->cap_next = cap;
    }
    s->next[s->n_next++] = (struct text_span){begin, end};
    return STATUS_OK;
}

// Does this part stay with the one before it? Of several matches in a row only the one beside other text joins it.
static bool joins(enum split_behaviour behaviour, const struct split_part *before, const struct split_part *part) {
    if (behaviour == SPLIT_CONTIGUOUS) return before->is_match == part->is_match;
    if (behaviour == SPLIT_MERGED_WITH_PREVIOUS) return part->is_match && !before->is_match;
    return behaviour == SPLIT_MERGED_WITH_NEXT && before->is_match && !part->is_match;
}

static enum status cut_piece(struct run *r, size_t origin, size_t n) {
    TRY(find_parts(r, r->text + origin, n));
    const struct split_part *parts = r->s->parts;
    enum split_behaviour behaviour = r->c->step.behaviour;
    for (size_t i = 0, n_parts = r->s->n_parts; i < n_parts;) {
        size_t first = i++;
        if (behaviour == SPLIT_REMOVED && parts[first].is_match) continue;
        while (i < n_parts && joins(behaviour, &parts[i - 1], &parts[i])) i++;
        TRY(add_piece(r, origin + parts[first].begin, origin + parts[i - 1].end));
    }
    return STATUS_OK;
}

// --- steps that write pieces anew ---

static void write_alphabet(struct buf *out, const char *text, size_t n) {
    char written[4];
    for (size_t i = 0; i < n; i++) buf_append(out, written, vocabulary_write_byte((uint8_t)text[i], written));
}

static void write_metaspace(struct buf *out, const struct split_step *s, const char *text, size_t n, bool first) {
    bool has = text[0] == ' ' || (s->n <= n && memcmp(text, s->text, s->n) == 0);
    bool wanted = s->prepend == SPLIT_PREPEND_ALWAYS || (s->prepend == SPLIT_PREPEND_FIRST && first);
    if (wanted && !has) buf_append(out, s->text, s->n);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == ' ') buf_append(out, s->text, s->n);
        else buf_byte(out, text[i]);
    }
}

static enum status edit_piece(struct run *r, struct text_span piece, bool first) {
    struct buf *out = &r->s->next_text;
    const char *text = r->text + piece.begin;
    size_t n = piece.end - piece.begin, begin = out->n;
    if (r->c->step.kind == SPLIT_ALPHABET) {
        write_alphabet(out, text, n);
    } else if (r->c->step.kind == SPLIT_METASPACE) {
        write_metaspace(out, &r->c->step, text, n, first);
    } else {
        if (text[0] != ' ') buf_byte(out, ' ');
        buf_append(out, text, n);
    }
    if (out->failed != STATUS_OK) return err_set(r->e, out->failed, "the pieces of a text do not fit");
    return add_piece(r, begin, out->n);
}

// The list that was made becomes the list of pieces.
static void take_next(struct split_scratch *s) {
    struct text_span *pieces = s->pieces;
    size_t cap = s->cap;
    s->pieces = s->next;
    s->n_pieces = s->n_next;
    s->cap = s->cap_next;
    s->next = pieces;
    s->cap_next = cap;
    s->n_next = 0;
}

static enum status run_step(struct run *r, bool at_start) {
    struct split_scratch *s = r->s;
    bool edits = r->c->step.kind >= SPLIT_PREFIX_SPACE;
    if (edits) buf_reset(&s->next_text);
    for (size_t i = 0; i < s->n_pieces; i++) {
        struct text_span piece = s->pieces[i];
        if (edits) TRY(edit_piece(r, piece, at_start && piece.begin == 0));
        else TRY(cut_piece(r, piece.begin, piece.end - piece.begin));
    }
    take_next(s);
    if (!edits) return STATUS_OK;
    struct buf text = s->text;
    s->text = s->next_text;
    s->next_text = text;
    r->text = s->text.data;
    return STATUS_OK;
}

enum status split_run(const struct split_chain *c, struct split_scratch *s, const char *text, size_t n, bool at_start,
                      const char **cut, struct err *e) {
    struct run r = {.s = s, .text = text, .e = e};
    if (!s->ready) {
        buf_init(&s->text, SIZE_MAX / 2);
        buf_init(&s->next_text, SIZE_MAX / 2);
        s->ready = true;
    }
    s->n_next = 0;
    TRY(add_piece(&r, 0, n));
    take_next(s);
    for (size_t i = 0; i < c->n; i++) {
        r.c = &c->steps[i];
        TRY(run_step(&r, at_start));
    }
    *cut = r.text;
    return STATUS_OK;
}
