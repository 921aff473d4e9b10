// One round's rows as the backend wants them: slots, visible keys and outputs, checked before anything runs.
#include "model/loaded.h"

#include "base/mem.h"

// Paths are quadratic in a tree's rows at worst; a round with longer ones in sum is refused.
enum { PATHS_MAX = 1 << 20 };

enum status round_init(struct round_state *r, const struct plan *p, struct err *e) {
    size_t rows = p->rows_max, outputs = p->outputs_max, windows = p->n_slots;
    size_t most = rows * rows / 2 + rows; // a tree whose rows all hang on one branch
    r->path_cap = (uint32_t)(most < PATHS_MAX ? most : PATHS_MAX);
    r->row = mem_new(rows, sizeof *r->row);
    r->ids = mem_new(rows, sizeof *r->ids);
    r->positions = mem_new(rows, sizeof *r->positions);
    r->parents = mem_new(rows, sizeof *r->parents);
    r->depth = mem_new(rows, sizeof *r->depth);
    r->chain = mem_new(rows, sizeof *r->chain);
    r->paths = mem_new(r->path_cap, sizeof *r->paths);
    r->page_tables = mem_new(windows, sizeof *r->page_tables);
    r->output_row = mem_new(outputs, sizeof *r->output_row);
    r->output_of = mem_new(rows, sizeof *r->output_of);
    r->rules = mem_new(outputs, sizeof *r->rules);
    r->token_index = mem_new(outputs, sizeof *r->token_index);
    r->drawn = mem_new(outputs, sizeof *r->drawn);
    r->rows = (struct backend_rows){
        .rows = r->row, .page_tables = r->page_tables, .paths = r->paths, .positions = r->positions};
    bool all = r->row && r->ids && r->positions && r->parents && r->depth && r->chain && r->paths && r->page_tables;
    all = all && r->output_row && r->output_of && r->rules && r->token_index && r->drawn;
    if (all) return STATUS_OK;
    return err_set(e, STATUS_NO_MEMORY, "no memory for rounds of %zu rows", rows);
}

void round_fini(struct round_state *r) {
    void *const arrays[] = {r->row,   r->ids,         r->positions,   r->parents,    r->depth,
                            r->chain, r->paths,       r->page_tables, r->output_row, r->output_of,
                            r->rules, r->token_index, r->drawn};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) mem_free(arrays[i]);
}

static enum status fault(const char *what, uint32_t row, struct err *e) {
    return err_set(e, STATUS_INTERNAL, "round: row %u: %s", row, what);
}

static enum status check_window(const struct model_geometry *g, const struct model_round *round,
                                const struct model_window *w, uint32_t next_row, struct err *e) {
    if (w->n_rows == 0 || w->first_row != next_row || w->n_rows > round->n_rows - next_row) {
        return fault("its window does not follow the one before", next_row, e);
    }
    if (w->slot >= g->n_slots) return fault("its window's slot is past the last", next_row, e);
    if (w->n_kept < 0 || w->n_kept > (int64_t)g->context - w->n_rows) {
        return fault("its window runs past the context", next_row, e);
    }
    uint64_t pages = ((uint64_t)w->n_kept + w->n_rows + g->page_tokens - 1) / g->page_tokens;
    for (uint64_t i = 0; i < pages; i++) {
        if (w->pages[i] < 0 || (uint32_t)w->pages[i] >= g->n_pages)
            return fault("a page is not one of ours", next_row, e);
    }
    return STATUS_OK;
}

// Where the row hangs in its window's tree.
static enum status place_row(struct round_state *r, const struct model_window *w, const struct model_row *row,
                             uint32_t i, struct err *e) {
    uint32_t first = w->first_row, n = i - first;
    bool root = row->parent == MODEL_NO_PARENT;
    if (root ? n != 0 : row->parent < (int32_t)first || row->parent >= (int32_t)i)
        return fault("its parent is not before it", i, e);
    if (w->kind == WINDOW_PROMPT && !root && row->parent != (int32_t)i - 1)
        return fault("a prompt must be a chain", i, e);
    r->parents[i] = row->parent;
    r->depth[i] = root ? 0 : r->depth[row->parent] + 1;
    bool straight = root || (row->parent == (int32_t)i - 1 && r->chain[i - 1] == n);
    r->chain[i] = straight ? n + 1 : r->chain[row->parent];
    if (row->position != w->n_kept + r->depth[i]) return fault("its position is not its parent's plus one", i, e);
    return STATUS_OK;
}

// A chain row sees slots 0 .. position. Any other sees the kept slots and the leading chain, then its own path.
static enum status place_path(struct round_state *r, const struct model_window *w, uint32_t i, struct err *e) {
    struct backend_row *row = &r->row[i];
    uint32_t kept = (uint32_t)w->n_kept, n_path = r->depth[i] + 1 - r->chain[i];
    if (n_path > r->path_cap - r->n_paths) return fault("the paths through its tree are too long", i, e);
    row->slot = kept + (i - w->first_row);
    row->n_prefix = kept + r->chain[i];
    row->n_path = n_path;
    row->path_at = r->n_paths;
    uint32_t at = i;
    for (uint32_t j = n_path; j-- > 0; at = (uint32_t)r->parents[at]) {
        r->paths[r->n_paths + j] = kept + (at - w->first_row);
    }
    r->n_paths += n_path;
    return STATUS_OK;
}

static enum status lay_out_window(struct round_state *r, const struct model_geometry *g,
                                  const struct model_round *round, uint32_t window, struct err *e) {
    const struct model_window *w = &round->windows[window];
    r->page_tables[window] = w->pages;
    for (uint32_t i = w->first_row; i < w->first_row + w->n_rows; i++) {
        const struct model_row *row = &round->rows[i];
        if (row->token < 0 || (uint32_t)row->token >= g->vocab) {
            return err_set(e, STATUS_INVALID, "token %d is outside the vocabulary of %u", row->token, g->vocab);
        }
        TRY(place_row(r, w, row, i, e));
        r->ids[i] = row->token;
        r->positions[i] = row->position;
        r->row[i].table = (int32_t)window;
        TRY(place_path(r, w, i, e));
    }
    return STATUS_OK;
}

// Rows with one of the `wanted` flags and none of `unwanted` become outputs.
static enum status add_outputs(struct round_state *r, const struct model_geometry *g, const struct model_round *round,
                               uint32_t wanted, uint32_t unwanted, struct err *e) {
    for (uint32_t k = 0; k < round->n_windows; k++) {
        const struct model_window *w = &round->windows[k];
        for (uint32_t i = w->first_row; i < w->first_row + w->n_rows; i++) {
            uint32_t flags = round->rows[i].output;
            if (!(flags & wanted) || (flags & unwanted)) continue;
            if (r->n_outputs == g->outputs_max) return fault("more rows have outputs than a round may carry", i, e);
            if ((flags & MODEL_OUTPUT_DRAW) && !w->rule) return fault("it is drawn without a rule", i, e);
            r->output_of[i] = (int32_t)r->n_outputs;
            r->output_row[r->n_outputs] = i;
            r->rules[r->n_outputs] = w->rule;
            r->token_index[r->n_outputs] = (uint64_t)r->positions[i] + 1;
            r->n_outputs++;
        }
    }
    return STATUS_OK;
}

enum status round_lay_out(struct round_state *r, const struct model_geometry *g, const struct model_round *round,
                          struct err *e) {
    if (round->n_rows == 0 || round->n_rows > g->rows_max || round->n_windows > g->n_slots) {
        return err_set(e, STATUS_INTERNAL, "round: %u rows in %u windows, room for %u in %u", round->n_rows,
                       round->n_windows, g->rows_max, g->n_slots);
    }
    uint32_t next_row = 0;
    r->n_paths = r->n_outputs = 0;
    for (uint32_t k = 0; k < round->n_windows; k++) {
        TRY(check_window(g, round, &round->windows[k], next_row, e));
        TRY(lay_out_window(r, g, round, k, e));
        next_row += round->windows[k].n_rows;
    }
    if (next_row != round->n_rows) return fault("it belongs to no window", next_row, e);
    for (uint32_t i = 0; i < round->n_rows; i++) r->output_of[i] = -1;
    TRY(add_outputs(r, g, round, MODEL_OUTPUT_DRAW, 0, e));
    r->n_drawn = r->n_outputs;
    TRY(add_outputs(r, g, round, MODEL_OUTPUT_LOGITS, MODEL_OUTPUT_DRAW, e));
    r->rows.n = round->n_rows;
    return STATUS_OK;
}
