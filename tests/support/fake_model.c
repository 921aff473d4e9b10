// The strict fake model: pages hold the tokens that were stored in them, and every row walks all it can see.
#include "tests/support/fake_model.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { POISON = -77 };

struct stored {
    int32_t token; // POISON where nothing valid lies
    int64_t position;
};

struct resident {
    int64_t n_kept;      // tokens the stream's state covers
    uint64_t state;      // hash of them: the recurrent state
    bool owes_keep;      // a decode window waits for keep
    int64_t owed_n_kept; // n_kept of that window
};

struct fake_model {
    struct model model;
    struct fake_options options;
    struct stored *pages;      // [n_pages * page_tokens]
    struct resident *slots;    // [n_slots]
    int32_t *drawn;            // [rows_max]
    uint64_t *hash;            // [rows_max] of everything a row sees, itself included
    struct model_row *rows;    // [rows_max] the last round's
    uint32_t n_rows;
    uint64_t rounds;
    char fault[256];
};

static struct fake_model *fake(struct model *m) { return (struct fake_model *)m; }

static void fault(struct fake_model *f, const char *format, ...) {
    if (f->fault[0]) return;
    va_list args;
    va_start(args, format);
    vsnprintf(f->fault, sizeof f->fault, format, args);
    va_end(args);
}

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 32);
}

static uint64_t feed(uint64_t state, int32_t token, int64_t position) {
    return mix(mix(state, (uint64_t)(uint32_t)token + 1), (uint64_t)position + 7);
}

static int32_t draw(const struct draw_rule *rule, uint32_t vocab, uint64_t state, uint64_t token_index) {
    uint64_t h = state;
    if (rule->temperature > 0) h = mix(mix(h, rule->seed), token_index);
    uint32_t n = rule->n_ids && rule->n_ids < vocab ? rule->n_ids : vocab;
    return (int32_t)(mix(h, 99) % n);
}

int32_t fake_model_next(const struct draw_rule *rule, uint32_t vocab, const int32_t *tokens, size_t n) {
    uint64_t state = 0;
    for (size_t i = 0; i < n; i++) state = feed(state, tokens[i], (int64_t)i);
    return draw(rule, vocab, state, n);
}

static struct stored *slot_at(struct fake_model *f, const struct model_window *w, int64_t slot) {
    uint32_t size = f->model.geometry.page_tokens;
    int32_t page = w->pages[slot / size];
    if (page < 0 || (uint32_t)page >= f->model.geometry.n_pages) {
        fault(f, "page %d of the window at slot %u does not exist", page, w->slot);
        return NULL;
    }
    return &f->pages[(size_t)page * size + (size_t)(slot % size)];
}

// Hash of the kept history as the pages hold it; a page that holds something else is a fault.
static uint64_t kept_hash(struct fake_model *f, const struct model_window *w) {
    uint64_t state = 0;
    for (int64_t p = 0; p < w->n_kept; p++) {
        const struct stored *s = slot_at(f, w, p);
        if (!s) return 0;
        if (s->token == POISON || s->position != p)
            fault(f, "stream slot %u: cache place %lld holds token %d of position %lld", w->slot, (long long)p,
                  s->token, (long long)s->position);
        state = feed(state, s->token, s->position);
    }
    return state;
}

static void check_window(struct fake_model *f, const struct model_window *w, uint64_t kept) {
    if (w->slot >= f->model.geometry.n_slots) {
        fault(f, "slot %u of %u", w->slot, f->model.geometry.n_slots);
        return;
    }
    const struct resident *r = &f->slots[w->slot];
    if (r->owes_keep) fault(f, "slot %u: a new round before keep", w->slot);
    if (r->n_kept != w->n_kept)
        fault(f, "slot %u: window says %lld kept, state covers %lld", w->slot, (long long)w->n_kept,
              (long long)r->n_kept);
    if (r->state != kept) fault(f, "slot %u: recurrent state and pages disagree", w->slot);
    uint32_t most = f->model.geometry.window_rows;
    if (w->n_rows == 0) fault(f, "slot %u: a window without rows", w->slot);
    if (w->kind == WINDOW_DECODE && most && w->n_rows > most)
        fault(f, "slot %u: a window of %u rows, at most %u are taken", w->slot, w->n_rows, most);
}

static void run_row(struct fake_model *f, const struct model_round *round, const struct model_window *w, uint32_t i,
                    uint64_t kept) {
    const struct model_row *row = &round->rows[w->first_row + i];
    bool root = row->parent == MODEL_NO_PARENT;
    int64_t parent = (int64_t)row->parent - (int64_t)w->first_row;
    if (row->token < 0 || (uint32_t)row->token >= f->model.geometry.vocab) fault(f, "row token %d", row->token);
    if (root != (i == 0)) fault(f, "only row 0 of a window follows the kept tokens");
    if (!root && (parent < 0 || parent >= (int64_t)i)) fault(f, "row %u comes before its parent", i);
    if (f->fault[0]) return;
    int64_t position = root ? w->n_kept : round->rows[row->parent].position + 1;
    if (row->position != position)
        fault(f, "row %u at position %lld, its parent says %lld", i, (long long)row->position, (long long)position);
    uint64_t state = feed(root ? kept : f->hash[row->parent], row->token, row->position);
    f->hash[w->first_row + i] = state;
    f->drawn[w->first_row + i] = -1;
    struct stored *s = slot_at(f, w, w->n_kept + i);
    if (s) *s = (struct stored){row->token, row->position};
    if (!(row->output & MODEL_OUTPUT_DRAW)) return;
    if (!w->rule) fault(f, "a drawn row without a rule");
    else f->drawn[w->first_row + i] =
            draw(w->rule, f->model.geometry.vocab, state, (uint64_t)row->position + 1);
}

static void run_window(struct fake_model *f, const struct model_round *round, const struct model_window *w) {
    uint64_t kept = kept_hash(f, w);
    check_window(f, w, kept);
    for (uint32_t i = 0; i < w->n_rows && !f->fault[0]; i++) run_row(f, round, w, i, kept);
    if (f->fault[0]) return;
    struct resident *r = &f->slots[w->slot];
    uint32_t committed = w->kind == WINDOW_PROMPT ? w->n_rows : 1;
    r->n_kept = w->n_kept + committed;
    r->state = f->hash[w->first_row + committed - 1];
    r->owes_keep = w->kind == WINDOW_DECODE;
    r->owed_n_kept = w->n_kept;
}

static enum status fake_verify(struct model *m, const struct model_round *round, uint64_t *ticket, struct err *e) {
    struct fake_model *f = fake(m);
    f->rounds++;
    if (f->rounds == f->options.fail_round) return err_set(e, STATUS_INTERNAL, "the fake was told to fail");
    if (round->n_rows > m->geometry.rows_max) fault(f, "%u rows in a round", round->n_rows);
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < round->n_rows; i++) outputs += round->rows[i].output != MODEL_OUTPUT_NONE;
    if (outputs > m->geometry.outputs_max) fault(f, "%u outputs in a round", outputs);
    memcpy(f->rows, round->rows, round->n_rows * sizeof *f->rows);
    f->n_rows = round->n_rows;
    for (uint32_t i = 0; i < round->n_windows && !f->fault[0]; i++) run_window(f, round, &round->windows[i]);
    *ticket = f->rounds;
    return STATUS_OK;
}

static enum status fake_drawn(struct model *m, uint64_t ticket, int32_t *tokens, uint32_t n, struct err *e) {
    struct fake_model *f = fake(m);
    if (ticket != f->rounds || n != f->n_rows) fault(f, "drawn() of another round");
    if (f->fault[0]) return err_set(e, STATUS_INTERNAL, "%s", f->fault);
    memcpy(tokens, f->drawn, n * sizeof *tokens);
    return STATUS_OK;
}

static enum status fake_logits(struct model *m, uint64_t ticket, uint32_t row, float *out, struct err *e) {
    (void)m, (void)ticket, (void)row, (void)out;
    return err_set(e, STATUS_UNSUPPORTED, "the fake model has no logits");
}

static enum status fake_keep(struct model *m, const struct model_window *w, const uint32_t *path, uint32_t n,
                             struct err *e) {
    struct fake_model *f = fake(m);
    struct resident *r = &f->slots[w->slot];
    if (!r->owes_keep || r->owed_n_kept != w->n_kept) fault(f, "keep of a window that no round had");
    if (n == 0 || path[0] != w->first_row) fault(f, "a kept path begins at row 0");
    for (uint32_t i = 1; i < n; i++)
        if (f->rows[path[i]].parent != (int32_t)path[i - 1]) fault(f, "a kept path skips a parent");
    if (f->fault[0]) return err_set(e, STATUS_INTERNAL, "%s", f->fault);
    for (uint32_t i = 0; i < n; i++) {
        struct stored *s = slot_at(f, w, w->n_kept + i);
        if (s) *s = (struct stored){f->rows[path[i]].token, w->n_kept + i};
    }
    for (uint32_t i = n; i < w->n_rows; i++) {
        struct stored *s = slot_at(f, w, w->n_kept + i);
        if (s) s->token = POISON;
    }
    r->n_kept = w->n_kept + n;
    r->state = f->hash[path[n - 1]];
    r->owes_keep = false;
    return STATUS_OK;
}

static void fake_reset(struct model *m, uint32_t slot) { fake(m)->slots[slot] = (struct resident){0}; }

static void fake_release_pages(struct model *m, const int32_t *pages, uint32_t n) {
    struct fake_model *f = fake(m);
    uint32_t size = m->geometry.page_tokens;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < size; j++)
            f->pages[(size_t)pages[i] * size + j] = (struct stored){POISON, POISON};
}

static void fake_close(struct model *m) {
    struct fake_model *f = fake(m);
    mem_free(f->pages);
    mem_free(f->slots);
    mem_free(f->drawn);
    mem_free(f->hash);
    mem_free(f->rows);
    mem_free(f);
}

static const struct model_ops fake_ops = {
    .verify = fake_verify,
    .drawn = fake_drawn,
    .logits = fake_logits,
    .keep = fake_keep,
    .reset = fake_reset,
    .release_pages = fake_release_pages,
    .close = fake_close,
};

struct model *fake_model_new(const struct fake_options *options) {
    const struct model_geometry *g = &options->geometry;
    struct fake_model *f = mem_new(1, sizeof *f);
    if (!f) return NULL;
    f->model = (struct model){.ops = &fake_ops, .geometry = *g};
    f->options = *options;
    f->pages = mem_new((size_t)g->n_pages * g->page_tokens, sizeof *f->pages);
    f->slots = mem_new(g->n_slots, sizeof *f->slots);
    f->drawn = mem_new(g->rows_max, sizeof *f->drawn);
    f->hash = mem_new(g->rows_max, sizeof *f->hash);
    f->rows = mem_new(g->rows_max, sizeof *f->rows);
    if (!f->pages || !f->slots || !f->drawn || !f->hash || !f->rows) {
        fake_close(&f->model);
        return NULL;
    }
    for (size_t i = 0; i < (size_t)g->n_pages * g->page_tokens; i++) f->pages[i] = (struct stored){POISON, POISON};
    return &f->model;
}

const char *fake_model_fault(const struct model *m) {
    const struct fake_model *f = (const struct fake_model *)m;
    return f->fault[0] ? f->fault : NULL;
}

uint64_t fake_model_rounds(const struct model *m) { return ((const struct fake_model *)m)->rounds; }
