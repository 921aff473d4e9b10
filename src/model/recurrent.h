// Recurrent state on the round seam: what each slot's covers, and how accepted drafts join it later.
//
// A round commits prompt rows and a decode window's row 0. What its later rows need to be committed is held, and the
// accepted ones are replayed first when their slot's state is used next: a rejected row never touches the state, and
// no state is copied to take rows back.
#ifndef TF_MODEL_RECURRENT_H
#define TF_MODEL_RECURRENT_H

#include "backend/backend.h"
#include "model/model.h"

struct loaded;

// What one slot's state covers.
struct resident {
    int64_t n_kept;    // tokens, with those in its replay list
    uint64_t ticket;   // the last round that it took part in
    uint32_t n_held;   // rows that its last window left held
    uint32_t n_replay; // accepted of them, not committed yet
    bool fresh;        // nothing was committed: the memory counts as zero
};

// Empty for models without such layers.
struct recurrent {
    struct backend_delta *memory;         // [delta layers]
    struct resident *resident;            // [n_slots]
    uint32_t *replay;                     // [n_slots][held rows] rising
    struct backend_delta_window *windows; // [n_slots] of the round
};

enum status recurrent_init(struct loaded *m, struct err *e) TF_MUST_CHECK;
void recurrent_fini(struct recurrent *r);

// Checks that each window goes on where its slot's state ends and is no wider than planned, and lays the windows out.
// Changes no state.
enum status recurrent_lay_out(struct loaded *m, const struct model_round *round, struct err *e) TF_MUST_CHECK;

// The round ran: its replay lists are done, its leading rows committed.
void recurrent_commit(struct loaded *m, const struct model_round *round);

// path[0 .. n) of a decode window was accepted: what of it is held goes to the replay list.
enum status recurrent_keep(struct loaded *m, const struct model_window *w, const uint32_t *path, uint32_t n,
                           struct err *e) TF_MUST_CHECK;

void recurrent_reset(struct loaded *m, uint32_t slot);

// Runs the delta rule of one layer for the laid-out round.
void recurrent_run(struct loaded *m, uint32_t layer);

// Brings the memory of a slot up to all its tokens, of which there must be n_kept. Whoever reads the memory calls this.
enum status recurrent_materialise(struct loaded *m, uint32_t slot, int64_t n_kept, struct err *e) TF_MUST_CHECK;

#endif
