// Planning a round: who takes part, which prompt pieces fit, and what each stream's window holds.
#include "engine/state.h"

// A cancelled stream ends before the round; its pages and slot are free for this round already.
static void end_cancelled(struct engine *g) {
    for (struct stream *s = g->streams; s; s = s->next) {
        if (!s->cancelled || s->state == STREAM_ENDED) continue;
        if (g->events_cap - g->n_events <= g->round_events) return; // the others end next round
        s->reason = END_CANCELLED;
        engine_end_stream(g, s);
    }
}

static bool find_slot(const struct engine *g, uint32_t *slot) {
    for (uint32_t i = 0; i < g->model->geometry.n_slots; i++) {
        if (g->slot_used[i]) continue;
        *slot = i;
        return true;
    }
    return false;
}

// Oldest first, each with pages for its longest reply, so that a running stream never ends for memory.
static void admit(struct engine *g) {
    for (struct stream *s = g->streams; s; s = s->next) {
        if (s->state != STREAM_QUEUED) continue;
        uint32_t slot;
        if (!find_slot(g, &slot) || !pages_take(&g->pages, s->n_pages, s->pages)) return;
        g->slot_used[slot] = true;
        s->slot = slot;
        s->state = STREAM_RUNNING;
        g->model->ops->reset(g->model, slot);
    }
}

static bool in_prompt(const struct stream *s) { return s->n_kept + 1 < s->n_tokens && s->n_kept < s->n_prompt; }

// Adds a window with the stream's tokens from n_kept on: `n` certain rows and `n_drafts` guesses from g->drawn.
static void add_window(struct engine *g, struct stream *s, enum window_kind kind, uint32_t n, uint32_t n_drafts) {
    uint32_t first = g->n_rows;
    for (uint32_t i = 0; i < n + n_drafts; i++) {
        // A token is drawn after the last certain row and after every draft; before that it is known.
        bool draw = i + 1 >= n && s->n_kept + i + 1 >= s->n_tokens;
        g->rows[first + i] = (struct model_row){
            .token = i < n ? s->tokens[s->n_kept + i] : g->drawn[i - n],
            .parent = i ? (int32_t)(first + i - 1) : MODEL_NO_PARENT,
            .position = (int64_t)(s->n_kept + i),
            .output = draw ? MODEL_OUTPUT_DRAW : MODEL_OUTPUT_NONE,
        };
        g->n_outputs += draw;
    }
    g->plans[g->n_windows] = (struct plan){.stream = s, .n_certain = n};
    g->windows[g->n_windows++] = (struct model_window){
        .kind = kind,
        .slot = s->slot,
        .first_row = first,
        .n_rows = n + n_drafts,
        .n_kept = (int64_t)s->n_kept,
        .pages = s->pages,
        .rule = &s->request.rule,
    };
    g->n_rows += n + n_drafts;
}

static uint32_t smaller(uint64_t a, uint64_t b) { return (uint32_t)(a < b ? a : b); }

// Drafts for a decode window, written to g->drawn. Never so many that the reply could outgrow its memory.
static uint32_t propose(struct engine *g, const struct stream *s, uint32_t rows_left) {
    const struct proposer *p = g->options.proposer;
    const struct model_geometry *m = &g->model->geometry;
    if (!p || rows_left == 0) return 0;
    uint32_t cap = smaller(g->options.drafts_max, rows_left);
    cap = smaller(cap, m->outputs_max - g->n_outputs - 1);
    cap = smaller(cap, s->n_tokens_max - s->n_tokens - 1);
    if (cap == 0) return 0;
    uint32_t n = p->propose(p->context, s->tokens, s->n_tokens, g->drawn, cap);
    n = smaller(n, cap);
    for (uint32_t i = 0; i < n; i++)
        if (g->drawn[i] < 0 || (uint32_t)g->drawn[i] >= m->vocab) return i;
    return n;
}

static uint32_t window_rows(const struct model_geometry *m) { return m->window_rows ? m->window_rows : m->rows_max; }

static void plan_decodes(struct engine *g) {
    const struct model_geometry *m = &g->model->geometry;
    for (struct stream *s = g->streams; s; s = s->next) {
        if (s->state != STREAM_RUNNING || in_prompt(s)) continue;
        uint32_t n = smaller(s->n_tokens - s->n_kept, window_rows(m)); // forced tokens may take several rounds
        if (g->n_rows + n > m->rows_max || g->n_outputs == m->outputs_max) return;
        // The last prompt token alone is a prompt piece of one row: there is nothing to draft behind it yet.
        bool prompt = s->n_kept < s->n_prompt;
        bool certain = prompt || s->n_kept + n < s->n_tokens;
        uint32_t n_drafts = certain ? 0 : propose(g, s, smaller(m->rows_max - g->n_rows, window_rows(m)) - n);
        add_window(g, s, prompt ? WINDOW_PROMPT : WINDOW_DECODE, n, n_drafts);
        if (prompt) g->n_prompt_rows += n;
    }
}

static void plan_prompts(struct engine *g) {
    const struct model_geometry *m = &g->model->geometry;
    uint32_t budget = width_choose(&g->width, g->n_windows > 0);
    for (struct stream *s = g->streams; s; s = s->next) {
        if (s->state != STREAM_RUNNING || !in_prompt(s)) continue;
        uint32_t n = smaller(s->n_prompt - s->n_kept, smaller(budget, m->rows_max - g->n_rows));
        bool last = s->n_kept + n == s->n_prompt;
        if (n == 0 || (last && g->n_outputs == m->outputs_max)) return;
        add_window(g, s, WINDOW_PROMPT, n, 0);
        g->n_prompt_rows += n;
        budget -= n;
    }
}

bool round_plan(struct engine *g) {
    g->n_rows = g->n_windows = g->n_prompt_rows = g->n_outputs = 0;
    end_cancelled(g);
    admit(g);
    plan_decodes(g);
    plan_prompts(g);
    return g->n_rows > 0;
}
