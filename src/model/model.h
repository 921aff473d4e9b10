// The round seam: what the engine may ask of a model. Ids, positions, pages and slots are integers; bytes stay behind.
#ifndef TF_MODEL_MODEL_H
#define TF_MODEL_MODEL_H

#include "base/err.h"
#include "kernels/draw/draw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_NO_PARENT = -1 };

enum model_output {
    MODEL_OUTPUT_NONE = 0,
    MODEL_OUTPUT_DRAW = 1,   // draw the token that follows this row
    MODEL_OUTPUT_LOGITS = 2, // keep the row's raw logits for `logits`
};

struct model_row {
    int32_t token;
    int32_t parent;   // index of its parent row in the round; MODEL_NO_PARENT: it follows the stream's kept tokens
    int64_t position; // absolute: the parent's + 1, or the window's n_kept
    uint32_t output;  // enum model_output flags
};

enum window_kind {
    WINDOW_PROMPT, // a piece of a prompt: a chain, all of it is kept by the round itself
    WINDOW_DECODE, // row 0 is kept by the round itself, rows >= 1 are drafts until `keep` names the accepted ones
};

// What one stream brings to a round: rows [first_row, first_row + n_rows), parents before children.
struct model_window {
    enum window_kind kind;
    uint32_t slot; // the stream's place: recurrent state, scratch
    uint32_t first_row, n_rows;
    int64_t n_kept;           // tokens of the stream that are kept before this round
    const int32_t *pages;     // page table, room for n_kept + n_rows tokens; row i is stored in slot n_kept + i
    const struct draw_rule *rule; // how its rows are drawn; NULL when none is
};

struct model_round {
    const struct model_row *rows;
    const struct model_window *windows;
    uint32_t n_rows, n_windows;
};

// Fixed after load.
struct model_geometry {
    uint32_t vocab;       // width of the output matrix; logits rows are this long
    uint32_t context;     // most tokens a stream may hold
    uint32_t page_tokens; // tokens a page
    uint32_t n_pages;     // pages there are
    uint32_t n_slots;     // streams that may be resident at once
    uint32_t rows_max;    // rows a round may carry
    uint32_t outputs_max; // rows with an output a round may carry
    uint32_t window_rows; // most rows of a decode window; 0 = as many as a round carries
    bool recurrent;       // state cannot be cut back by dropping pages
};

struct model;

struct model_ops {
    // Runs one forward over all windows; MODEL_OUTPUT rows are drawn. `*ticket` names the results. On failure no window
    // was kept. Host arrays may be reused after `drawn` of this ticket.
    enum status (*verify)(struct model *m, const struct model_round *round, uint64_t *ticket, struct err *e);

    // Waits for a round and gives the token drawn after each row (rows without MODEL_OUTPUT_DRAW: -1).
    enum status (*drawn)(struct model *m, uint64_t ticket, int32_t *tokens, uint32_t n_rows, struct err *e);

    // Raw logits [vocab] of a row of the last round that asked for them.
    enum status (*logits)(struct model *m, uint64_t ticket, uint32_t row, float *out, struct err *e);

    // Accepts part of a decode window of the last round: path[0..n) are its rows from row 0 on (indices in the round),
    // each the child of the one before; all others are dropped. Called once for every decode window, before the
    // stream's next round.
    enum status (*keep)(struct model *m, const struct model_window *window, const uint32_t *path, uint32_t n,
                        struct err *e);

    // The stream in `slot` ends or starts afresh: its recurrent state is forgotten. A recurrent model refuses a window
    // whose n_kept is not what the slot holds since then.
    void (*reset)(struct model *m, uint32_t slot);

    // SHA-256, in hex, over all that the slot holds of its n_kept tokens: equal digests, equal futures. Not in a round.
    enum status (*digest)(struct model *m, uint32_t slot, const int32_t *pages, int64_t n_kept, char out[65],
                          struct err *e);

    // Pages that no stream owns any more. A debug model poisons them.
    void (*release_pages)(struct model *m, const int32_t *pages, uint32_t n);

    void (*close)(struct model *m);
};

struct model {
    const struct model_ops *ops;
    struct model_geometry geometry;
    // The model's own fields follow in its own struct.
};

#endif
