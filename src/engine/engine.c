// The engine's outside: opening, submitting, cancelling and events. Rounds are in round_plan.c and round.c.
#include "engine/engine.h"

#include "base/checked.h"
#include "base/mem.h"
#include "engine/state.h"


// Besides its drafts a stream may commit one token more and one forced behind it, and end. The spare events are for
// waiting streams that are cancelled.
enum { ROUND_EVENTS_A_STREAM = 3, SPARE_EVENTS = 64 };

static enum status allocate(struct engine *g, struct err *e) {
    const struct model_geometry *m = &g->model->geometry;
    g->round_events = (size_t)m->n_slots * (g->options.drafts_max + ROUND_EVENTS_A_STREAM);
    g->events_cap = g->round_events + SPARE_EVENTS;
    g->slot_used = mem_new(m->n_slots, sizeof *g->slot_used);
    g->rows = mem_new(m->rows_max, sizeof *g->rows);
    g->windows = mem_new(m->n_slots, sizeof *g->windows);
    g->plans = mem_new(m->n_slots, sizeof *g->plans);
    g->drawn = mem_new(m->rows_max, sizeof *g->drawn);
    g->path = mem_new(m->rows_max, sizeof *g->path);
    g->events = mem_new(g->events_cap, sizeof *g->events);
    if (!g->slot_used || !g->rows || !g->windows || !g->plans || !g->drawn || !g->path || !g->events)
        return err_set(e, STATUS_NO_MEMORY, "no memory for rounds of %u rows", m->rows_max);
    return pages_init(&g->pages, m->n_pages, e);
}

enum status engine_new(struct model *model, const struct engine_options *options, struct engine **out, struct err *e) {
    struct engine *g = mem_new(1, sizeof *g);
    if (!g) return err_set(e, STATUS_NO_MEMORY, "no memory for the engine");
    g->model = model;
    g->options = *options;
    if (!options->proposer) g->options.drafts_max = 0;
    double prompt_ms = options->prompt_round_ms > 0 ? options->prompt_round_ms : 500.0;
    width_init(&g->width, options->prefill_width, model->geometry.rows_max, prompt_ms);
    enum status status = allocate(g, e);
    if (status != STATUS_OK) {
        engine_free(g);
        return status;
    }
    *out = g;
    return STATUS_OK;
}

void engine_free(struct engine *g) {
    if (!g) return;
    while (g->streams) {
        struct stream *s = g->streams;
        g->streams = s->next;
        stream_free(s);
    }
    stream_free(g->taken);
    pages_fini(&g->pages);
    mem_free(g->slot_used);
    mem_free(g->rows);
    mem_free(g->windows);
    mem_free(g->plans);
    mem_free(g->drawn);
    mem_free(g->path);
    mem_free(g->events);
    mem_free(g);
}

const struct model_geometry *engine_geometry(const struct engine *g) { return &g->model->geometry; }

static enum status check_rule(const struct draw_rule *rule, uint32_t vocab, struct err *e) {
    if (!(rule->temperature >= 0.0) || rule->temperature > 1e6)
        return err_set(e, STATUS_INVALID, "temperature: %g is not between 0 and 1000000", rule->temperature);
    if (!(rule->top_p >= 0.0 && rule->top_p <= 1.0))
        return err_set(e, STATUS_INVALID, "top_p: %g is not between 0 and 1", rule->top_p);
    if (!(rule->min_p >= 0.0 && rule->min_p <= 1.0))
        return err_set(e, STATUS_INVALID, "min_p: %g is not between 0 and 1", rule->min_p);
    if (rule->n_ids > vocab)
        return err_set(e, STATUS_INVALID, "the tokenizer has %u ids, the output matrix only %u", rule->n_ids, vocab);
    return STATUS_OK;
}

enum status engine_check(const struct engine *g, const struct engine_request *r, struct err *e) {
    const struct model_geometry *m = &g->model->geometry;
    if (r->n_prompt == 0) return err_set(e, STATUS_INVALID, "the prompt is empty; it needs at least one token");
    if (r->n_prompt >= m->context) {
        return err_set(e, STATUS_TOO_LARGE,
                       "the prompt has %zu tokens and the context holds %u; shorten it to at most %u", r->n_prompt,
                       m->context, m->context - 1);
    }
    for (size_t i = 0; i < r->n_prompt; i++) {
        if (r->prompt[i] >= 0 && (uint32_t)r->prompt[i] < m->vocab) continue;
        return err_set(e, STATUS_INVALID, "prompt token %zu is %d, outside the %u ids of this model", i,
                       r->prompt[i], m->vocab);
    }
    return check_rule(&r->rule, m->vocab, e);
}

enum status engine_submit(struct engine *g, const struct engine_request *request, uint64_t *stream, struct err *e) {
    struct stream *s = NULL;
    TRY(engine_check(g, request, e));
    TRY(stream_new(request, g->model->geometry.context, &s, e));
    const struct model_geometry *m = &g->model->geometry;
    if (s->request.rule.n_ids == 0) s->request.rule.n_ids = m->vocab;
    // The last token is never fed, and drafts never reach past the last but one.
    size_t n_pages = ceil_div(s->n_tokens_max - 1, m->page_tokens);
    s->n_pages = (uint32_t)n_pages;
    s->pages = mem_new(n_pages, sizeof *s->pages);
    if (!s->pages || n_pages > m->n_pages) {
        err_set(e, STATUS_NO_MEMORY, "a stream of %zu tokens needs %zu cache pages; there are %u", s->n_tokens_max,
                n_pages, m->n_pages);
        stream_free(s);
        return STATUS_NO_MEMORY;
    }
    s->id = *stream = ++g->last_id;
    s->submitted_ns = clock_now_ns(&g->options.clock);
    struct stream **at = &g->streams;
    while (*at) at = &(*at)->next;
    *at = s;
    return STATUS_OK;
}

void engine_cancel(struct engine *g, uint64_t stream) {
    for (struct stream *s = g->streams; s; s = s->next)
        if (s->id == stream) s->cancelled = true;
}

void engine_push_event(struct engine *g, enum event_kind kind, struct stream *s, int32_t token) {
    size_t at = (g->events_first + g->n_events++) % g->events_cap;
    g->events[at] = (struct event_slot){.kind = kind, .stream = s, .token = token};
}

void engine_end_stream(struct engine *g, struct stream *s) {
    if (s->state == STREAM_RUNNING) {
        g->model->ops->reset(g->model, s->slot);
        g->model->ops->release_pages(g->model, s->pages, s->n_pages);
        pages_give(&g->pages, s->pages, s->n_pages);
        g->slot_used[s->slot] = false;
    }
    s->state = STREAM_ENDED;
    s->ended_ns = clock_now_ns(&g->options.clock);
    engine_push_event(g, EVENT_END, s, -1);
}

// Takes an ended stream off the list; it lives until the next event is taken, since its figures point into it.
static void unlink_stream(struct engine *g, struct stream *s) {
    struct stream **at = &g->streams;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    g->taken = s;
}

bool engine_next_event(struct engine *g, struct engine_event *out) {
    stream_free(g->taken);
    g->taken = NULL;
    if (g->n_events == 0) return false;
    struct event_slot slot = g->events[g->events_first];
    g->events_first = (g->events_first + 1) % g->events_cap;
    g->n_events--;
    *out = (struct engine_event){.kind = slot.kind, .stream = slot.stream->id, .token = slot.token};
    if (slot.kind == EVENT_END) {
        out->reason = slot.stream->reason;
        out->err = slot.stream->err;
        stream_stats(slot.stream, &out->stats);
        unlink_stream(g, slot.stream);
    }
    return true;
}
