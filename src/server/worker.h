// The one thread that owns model and engine, and the queue of jobs in front of it. Any thread may submit and wait.
#ifndef TF_SERVER_WORKER_H
#define TF_SERVER_WORKER_H

#include "engine/engine.h"

struct worker;
struct job; // one request; belongs to the thread that submitted it

struct worker_options {
    struct engine *engine; // used by the worker's thread alone from worker_start to worker_stop
    const struct log *log; // or NULL
    uint32_t jobs_max;     // jobs accepted and not yet ended; 0 = 128. One more is refused as busy
};

enum status worker_start(const struct worker_options *options, struct worker **out, struct err *e) TF_MUST_CHECK;

// Refuses new jobs; those in progress may go on for grace_ms and are then cancelled. Returns when the thread has ended.
// Jobs may still be taken and freed then; `w` is gone.
void worker_stop(struct worker *w, uint32_t grace_ms);

// Figures for /health and for tests; any thread.
struct worker_state {
    bool ready; // the thread runs and the engine is sound
    uint32_t running, waiting;
    uint64_t requests, prompt_tokens, reply_tokens, cancelled, failed; // since the start
};
void worker_state(struct worker *w, struct worker_state *out);

// Checks a request (engine_check) and queues it; everything of it is copied, accept_context excepted, which must live
// until the job's end. STATUS_BUSY: the queue is full, or the worker stops.
enum status worker_submit(struct worker *w, const struct engine_request *request, struct job **out, struct err *e)
    TF_MUST_CHECK;

enum job_kind {
    JOB_TOKENS,  // tokens[0..n) joined the reply
    JOB_END,     // the reply is over; comes once, after all tokens
    JOB_NOTHING, // the time ran out
};

struct job_event {
    enum job_kind kind;
    const int32_t *tokens; // JOB_TOKENS: valid until the next call for this job
    size_t n;
    enum end_reason reason;    // JOB_END
    struct engine_stats stats; // JOB_END; prefill_widths live as long as the job
    struct err err;            // JOB_END with END_FAILED
};

// Waits for what comes next, at most timeout_ms. Tokens are never lost and never hold the worker up, however slowly
// they are taken: a job has room for its whole reply.
void job_wait(struct job *j, uint32_t timeout_ms, struct job_event *out);

void job_cancel(struct job *j); // ends it before the next round's forward; JOB_END still comes

// Cancels the job if it is not over and forgets it. Returns when the worker does not touch it or its accept_context any
// more.
void job_free(struct job *j);

#endif
