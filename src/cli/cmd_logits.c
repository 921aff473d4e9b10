// logits: raw logits of chosen positions, through the model seam in as few passes as it allows.
#include "cli/id_list.h"
#include "cli/npy.h"
#include "cli/positions.h"
#include "cli/session.h"

#include "base/mem.h"

#include <stdio.h>

struct work {
    struct model *model;
    const struct ids *prompt;
    const struct positions *positions;
    struct npy *npy;
    uint32_t rows_max;
    bool *wanted;           // [prompt] the position's row is asked for
    struct model_row *rows; // [rows_max]
    int32_t *drawn;         // [rows_max]
    int32_t *pages;         // page table of the one stream
    float *logits;          // [vocab]
    bool all;               // every id is fed, whatever positions are asked for
};

static enum status work_open(struct work *w, struct err *e) {
    const struct model_geometry *g = &w->model->geometry;
    size_t n_pages = ((size_t)w->prompt->n + g->page_tokens - 1) / g->page_tokens;
    if (w->prompt->n > g->context || n_pages > g->n_pages) {
        return err_set(e, STATUS_TOO_LARGE, "%zu ids do not fit into the context of %u tokens", w->prompt->n,
                       g->context);
    }
    w->wanted = mem_new(w->prompt->n, sizeof *w->wanted);
    w->rows = mem_new(w->rows_max, sizeof *w->rows);
    w->drawn = mem_new(w->rows_max, sizeof *w->drawn);
    w->pages = mem_new(n_pages, sizeof *w->pages);
    w->logits = mem_new(g->vocab, sizeof *w->logits);
    if (!w->wanted || !w->rows || !w->drawn || !w->pages || !w->logits) {
        return err_set(e, STATUS_NO_MEMORY, "no memory for the pass");
    }
    for (size_t i = 0; i < n_pages; i++) w->pages[i] = (int32_t)i;
    for (size_t i = 0; i < w->positions->n; i++) w->wanted[w->positions->at[i]] = true;
    return STATUS_OK;
}

static void work_close(struct work *w) {
    mem_free(w->wanted);
    mem_free(w->rows);
    mem_free(w->drawn);
    mem_free(w->pages);
    mem_free(w->logits);
}

// Fills the rows of the pass that begins at `first`: as many as fit, with no more outputs than a round carries.
static uint32_t fill_rows(struct work *w, size_t first) {
    uint32_t n = 0, outputs = 0;
    for (size_t p = first; p < w->prompt->n && n < w->rows_max; p++, n++) {
        if (w->wanted[p] && ++outputs > w->model->geometry.outputs_max) break;
        w->rows[n] = (struct model_row){.token = w->prompt->at[p],
                                        .parent = n ? (int32_t)n - 1 : MODEL_NO_PARENT,
                                        .position = (int64_t)p,
                                        .output = w->wanted[p] ? MODEL_OUTPUT_LOGITS : MODEL_OUTPUT_NONE};
    }
    return n;
}

// Writes the logits of one row to every place in the list that names its position.
static enum status write_position(struct work *w, size_t position, struct err *e) {
    for (size_t i = 0; i < w->positions->n; i++) {
        if (w->positions->at[i] == position) TRY(npy_write_row(w->npy, i, w->logits, e));
    }
    return STATUS_OK;
}

static enum status run_pass(struct work *w, size_t first, uint32_t n, struct err *e) {
    const struct model_ops *ops = w->model->ops;
    const struct model_window window = {
        .kind = WINDOW_PROMPT, .n_rows = n, .n_kept = (int64_t)first, .pages = w->pages};
    const struct model_round round = {.rows = w->rows, .windows = &window, .n_rows = n, .n_windows = 1};
    uint64_t ticket;
    TRY(ops->verify(w->model, &round, &ticket, e));
    TRY(ops->drawn(w->model, ticket, w->drawn, n, e));
    for (uint32_t row = 0; row < n; row++) {
        if (!(w->rows[row].output & MODEL_OUTPUT_LOGITS)) continue;
        TRY(ops->logits(w->model, ticket, row, w->logits, e));
        TRY(write_position(w, first + row, e));
    }
    return STATUS_OK;
}

static enum status run_passes(struct work *w, struct err *e) {
    TRY(work_open(w, e));
    w->model->ops->reset(w->model, 0);
    size_t last = w->all ? w->prompt->n - 1 : 0;
    for (size_t i = 0; i < w->positions->n; i++) {
        if (w->positions->at[i] > last) last = w->positions->at[i];
    }
    for (size_t first = 0; first <= last;) {
        uint32_t n = fill_rows(w, first);
        TRY(run_pass(w, first, n, e));
        first += n;
    }
    return STATUS_OK;
}

// The fingerprint of what the model holds of all ids.
static enum status print_state(struct model *m, const struct ids *prompt, const int32_t *pages, struct err *e) {
    char sha[65];
    TRY(m->ops->digest(m, 0, pages, (int64_t)prompt->n, sha, e));
    printf("{\"state_sha\": \"%s\"}\n", sha);
    return STATUS_OK;
}

static enum status write_logits(struct session *s, const struct options *o, const struct ids *prompt,
                                const struct positions *positions, struct err *e) {
    TRY(session_load(s, o, e));
    TRY(session_check_ids(s, prompt->at, prompt->n, e));
    struct npy npy;
    TRY(npy_create(&npy, options_text(o, FLAG_NPY), positions->n, s->model->geometry.vocab, e));
    uint32_t rows_max = s->model->geometry.rows_max;
    uint64_t width = options_count(o, FLAG_PREFILL_WIDTH, rows_max);
    struct work w = {.model = s->model,
                     .prompt = prompt,
                     .positions = positions,
                     .npy = &npy,
                     .rows_max = width < rows_max ? (uint32_t)width : rows_max,
                     .all = options_has(o, FLAG_STATE_SHA)};
    enum status status = run_passes(&w, e);
    if (status == STATUS_OK && w.all) status = print_state(w.model, prompt, w.pages, e);
    work_close(&w);
    if (status == STATUS_OK) status = npy_close(&npy, e);
    if (status != STATUS_OK) npy_abandon(&npy);
    return status;
}

enum status cmd_logits(const struct options *o, struct command_error *e) {
    struct session s = {0};
    struct ids prompt = {0};
    struct positions positions = {0};
    enum status status = id_list_parse(options_text(o, FLAG_IDS), &prompt, &e->usage, &e->err);
    if (status == STATUS_OK) {
        status = positions_parse(options_text(o, FLAG_POSITIONS), prompt.n, &positions, &e->err);
        e->usage = status == STATUS_INVALID;
    }
    if (status == STATUS_OK) status = session_open(&s, o, o->operands[0], e);
    if (status == STATUS_OK) status = write_logits(&s, o, &prompt, &positions, &e->err);
    session_close(&s);
    positions_fini(&positions);
    ids_fini(&prompt);
    return status;
}
