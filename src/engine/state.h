// The engine's own state, shared by the files that make up a round.
#ifndef TF_ENGINE_STATE_H
#define TF_ENGINE_STATE_H

#include "engine/engine.h"
#include "engine/pages.h"
#include "engine/stream.h"
#include "engine/width.h"

// What one stream's part of a round is made of: certain tokens first, then drafts.
struct plan {
    struct stream *stream;
    uint32_t n_certain; // rows of tokens already committed (a prompt piece, or the pending tokens)
};

struct event_slot {
    enum event_kind kind;
    int32_t token;
    struct stream *stream;
};

struct engine {
    struct model *model;
    struct engine_options options;
    struct stream *streams; // oldest first
    uint64_t last_id;
    struct pages pages;
    bool *slot_used; // [n_slots]
    struct width width;

    // One round's arrays, sized by the model's limits at the start.
    struct model_row *rows;       // [rows_max]
    struct model_window *windows; // [n_slots]
    struct plan *plans;           // [n_slots]
    int32_t *drawn;               // [rows_max]
    uint32_t *path;               // [rows_max]
    uint32_t n_rows, n_windows, n_prompt_rows, n_outputs;

    // Ring of events not taken yet.
    struct event_slot *events; // [events_cap]
    size_t events_cap, events_first, n_events;
    size_t round_events; // most events that the windows of one round add
    struct stream *taken; // ended stream whose event was taken last; freed at the next take
};

// round_plan.c: fills rows, windows and plans for the next round; false when there is nothing to do.
bool round_plan(struct engine *g);

// engine.c
void engine_push_event(struct engine *g, enum event_kind kind, struct stream *s, int32_t token);
void engine_end_stream(struct engine *g, struct stream *s); // gives back slot and pages, queues the end event

#endif
