// One round: plan, forward, draw, accept, keep, emit, record.
#include "engine/state.h"

#include "base/mem.h"

static void emit_token(void *context, struct stream *s, int32_t token) {
    struct engine *g = context;
    if (!s->first_token_ns) s->first_token_ns = clock_now_ns(&g->options.clock);
    engine_push_event(g, EVENT_TOKEN, s, token);
}

// Commits what was drawn after the window's last certain row, then after each draft that landed. Returns how many rows
// are kept; *over says that the reply ended.
static uint32_t accept_window(struct engine *g, const struct plan *p, const struct model_window *w, bool *over) {
    const struct stream_sink sink = {.token = emit_token, .context = g};
    for (uint32_t kept = p->n_certain;; kept++) {
        uint32_t row = w->first_row + kept - 1;
        bool forced;
        *over = !stream_commit(p->stream, g->drawn[row], &forced, &sink);
        bool landed = kept < w->n_rows && g->rows[row + 1].token == g->drawn[row];
        if (*over || forced || !landed) return kept;
    }
}

static void fail_window(struct engine *g, struct stream *s, const struct err *e) {
    s->reason = END_FAILED;
    s->err = *e;
    engine_end_stream(g, s);
}

static void finish_window(struct engine *g, const struct plan *p, const struct model_window *w) {
    struct stream *s = p->stream;
    struct err e = {0};
    uint32_t n = p->n_certain;
    bool over = false;
    s->rounds++;
    if (s->n_kept < s->n_prompt) s->prefill_widths[s->n_prefill_widths++] = w->n_rows;
    if (s->n_kept + n == s->n_tokens) n = accept_window(g, p, w, &over);
    if (w->kind == WINDOW_DECODE) {
        for (uint32_t i = 0; i < n; i++) g->path[i] = w->first_row + i;
        if (g->model->ops->keep(g->model, w, g->path, n, &e) != STATUS_OK) {
            fail_window(g, s, &e);
            return;
        }
    }
    s->n_kept += n;
    if (over) engine_end_stream(g, s);
}

static enum status forward(struct engine *g, struct err *e) {
    uint64_t ticket;
    const struct model_round round = {
        .rows = g->rows, .windows = g->windows, .n_rows = g->n_rows, .n_windows = g->n_windows};
    TRY(g->model->ops->verify(g->model, &round, &ticket, e));
    return g->model->ops->drawn(g->model, ticket, g->drawn, g->n_rows, e);
}

static bool has_work(const struct engine *g) {
    for (const struct stream *s = g->streams; s; s = s->next)
        if (s->state != STREAM_ENDED) return true;
    return false;
}

void engine_round(struct engine *g, bool *busy) {
    bool room = g->events_cap - g->n_events >= g->round_events;
    mem_guard_begin();
    if (room && round_plan(g)) {
        struct err e = {0};
        uint64_t begin = clock_now_ns(&g->options.clock);
        enum status status = forward(g, &e);
        double ms = clock_ms_between(begin, clock_now_ns(&g->options.clock));
        for (uint32_t i = 0; i < g->n_windows; i++) {
            if (status == STATUS_OK) finish_window(g, &g->plans[i], &g->windows[i]);
            else fail_window(g, g->plans[i].stream, &e);
        }
        if (status == STATUS_OK) width_record(&g->width, g->n_prompt_rows, g->n_rows - g->n_prompt_rows, ms);
    }
    mem_guard_end();
    *busy = has_work(g);
}
