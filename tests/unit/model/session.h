// A loaded model driven by hand: prompts in pieces of any width, single steps, drafts and trees.
#ifndef TF_TESTS_UNIT_MODEL_SESSION_H
#define TF_TESTS_UNIT_MODEL_SESSION_H

#include "backend/backend.h"
#include "base/mem.h"
#include "checkpoint/checkpoint.h"
#include "model/load.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

enum { SESSION_PAGES = 64, SESSION_ROWS = 1024 };

struct session {
    struct backend *backend;
    struct model *model;
    struct model_geometry g;
    int32_t pages[SESSION_PAGES];
    int64_t n_kept;
    struct draw_rule rule; // greedy
    struct model_row rows[SESSION_ROWS];
};

static inline void session_close(struct session *s) {
    if (s->model) s->model->ops->close(s->model);
    if (s->backend) s->backend->ops->close(s->backend);
    *s = (struct session){0};
}

// Opens a checkpoint on so many threads with an instruction set. False after reporting why.
static inline bool session_open(struct session *s, const char *path, uint32_t threads, enum isa isa) {
    struct err e = {0};
    struct checkpoint *c = NULL;
    *s = (struct session){0};
    enum status status = checkpoint_open(path, &c, &e);
    if (status == STATUS_OK) {
        status = backend_open_cpu(&(struct backend_options){.threads = threads, .isa = isa}, &s->backend, &e);
    }
    if (status == STATUS_OK) {
        struct model_options options = {.n_slots = 3, .context = 2048, .rows_max = 512, .window_rows = 8};
        status = model_open(c, s->backend, &options, NULL, &s->model, &e);
    }
    checkpoint_close(c);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s: %s", path, e.message);
        session_close(s);
        return false;
    }
    s->g = s->model->geometry;
    s->rule = (struct draw_rule){.n_ids = s->g.vocab};
    for (int32_t i = 0; i < SESSION_PAGES; i++) s->pages[i] = (i * 5 + 3) % (int32_t)s->g.n_pages; // any order
    return true;
}

// As if nothing had been fed.
static inline void session_restart(struct session *s) {
    s->model->ops->reset(s->model, 0);
    s->n_kept = 0;
}

static inline struct model_window session_window(struct session *s, enum window_kind kind, uint32_t n_rows) {
    return (struct model_window){
        .kind = kind, .n_rows = n_rows, .n_kept = s->n_kept, .pages = s->pages, .rule = &s->rule};
}

// One round of one window; gives its ticket, 0 after reporting a failure.
static inline uint64_t session_round(struct session *s, const struct model_window *w) {
    struct err e = {0};
    uint64_t ticket = 0;
    struct model_round round = {.rows = s->rows, .windows = w, .n_rows = w->n_rows, .n_windows = 1};
    if (s->model->ops->verify(s->model, &round, &ticket, &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "verify: %s", e.message);
        return 0;
    }
    return ticket;
}

static inline bool session_logits(struct session *s, uint64_t ticket, uint32_t row, float *out) {
    struct err e = {0};
    if (s->model->ops->logits(s->model, ticket, row, out, &e) == STATUS_OK) return true;
    test_fail(__FILE__, __LINE__, "logits: %s", e.message);
    return false;
}

// Feeds ids as a prompt, `width` rows a pass. Logits of the listed positions (ascending) go to out[i][vocab].
static inline bool session_prompt(struct session *s, const int32_t *ids, size_t n, uint32_t width,
                                  const int32_t *positions, size_t n_positions, float *out) {
    size_t next = 0;
    for (size_t at = 0; at < n;) {
        uint32_t rows = n - at < width ? (uint32_t)(n - at) : width;
        size_t first = next;
        for (uint32_t i = 0; i < rows; i++) {
            int64_t position = s->n_kept + i;
            bool wanted = next < n_positions && positions[next] == position;
            s->rows[i] = (struct model_row){.token = ids[at + i],
                                            .parent = i ? (int32_t)i - 1 : MODEL_NO_PARENT,
                                            .position = position,
                                            .output = wanted ? MODEL_OUTPUT_LOGITS : 0};
            next += wanted;
        }
        struct model_window w = session_window(s, WINDOW_PROMPT, rows);
        uint64_t ticket = session_round(s, &w);
        if (!ticket) return false;
        for (; first < next; first++) {
            uint32_t row = (uint32_t)(positions[first] - s->n_kept);
            if (!session_logits(s, ticket, row, out + first * s->g.vocab)) return false;
        }
        s->n_kept += rows;
        at += rows;
    }
    return true;
}

// Rows of a decode window: tokens with the index of their parent (-1 for row 0), all drawn and kept readable.
static inline struct model_window session_tree(struct session *s, const int32_t *tokens, const int32_t *parents,
                                               uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        s->rows[i] = (struct model_row){.token = tokens[i],
                                        .parent = parents[i],
                                        .position = i ? s->rows[parents[i]].position + 1 : s->n_kept,
                                        .output = MODEL_OUTPUT_DRAW | MODEL_OUTPUT_LOGITS};
    }
    return session_window(s, WINDOW_DECODE, n);
}

static inline bool session_keep(struct session *s, const struct model_window *w, const uint32_t *path, uint32_t n) {
    struct err e = {0};
    if (s->model->ops->keep(s->model, w, path, n, &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "keep: %s", e.message);
        return false;
    }
    s->n_kept += n;
    return true;
}

// Decodes one token: the drawn one, or -1 after reporting a failure. Its logits go to `logits` where it is not NULL.
static inline int32_t session_step(struct session *s, int32_t token, float *logits) {
    struct err e = {0};
    int32_t drawn = -1;
    struct model_window w = session_tree(s, &token, &(int32_t){MODEL_NO_PARENT}, 1);
    uint64_t ticket = session_round(s, &w);
    if (!ticket) return -1;
    if (s->model->ops->drawn(s->model, ticket, &drawn, 1, &e) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s", e.message);
    if (logits && !session_logits(s, ticket, 0, logits)) return -1;
    return session_keep(s, &w, &(uint32_t){0}, 1) ? drawn : -1;
}

// The digest of all that slot 0 holds; "" after reporting a failure.
static inline const char *session_digest(struct session *s, char out[65]) {
    struct err e = {0};
    out[0] = '\0';
    if (s->model->ops->digest(s->model, 0, s->pages, s->n_kept, out, &e) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "digest: %s", e.message);
    return out;
}

#endif
