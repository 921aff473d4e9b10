// The worker: jobs come in under one lock, rounds run without it, what they gave is handed out under it again.
#include "server/worker.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

// FAILURES_MAX: so many jobs that fail in a row, none going well between, make the engine count as unsound.
enum { JOBS_MAX = 128, FAILURES_MAX = 3 };

//   QUEUED --taken by the thread--> ACTIVE --end event--> OVER
//   QUEUED --refused by the engine--> OVER
enum job_state { QUEUED, ACTIVE, OVER };

struct job {
    struct worker *worker;
    struct job *next; // in the list of its state; none when over
    enum job_state state;
    struct engine_request request; // its arrays are the job's own
    uint64_t stream;
    bool cancelled, cancel_sent, end_taken;
    int32_t *tokens; // [n_room]: the longest reply; tokens[0..n) have come, tokens[0..n_taken) were handed out
    size_t n_room, n, n_taken;
    enum end_reason reason;
    struct engine_stats stats;
    uint32_t *widths; // what stats.prefill_widths points to
    struct err err;
    pthread_cond_t changed; // more tokens, or over
};

struct worker {
    struct engine *engine;
    const struct log *log;
    uint32_t jobs_max;
    pthread_t thread;
    pthread_mutex_t mutex;  // of all that follows and of every job's fields
    pthread_cond_t wanted;  // the thread has something to do
    pthread_cond_t emptied; // no job is queued or active
    struct job *queued, *active; // oldest first
    uint32_t n_queued, n_active;
    uint32_t holders; // worker_start's caller and every job not freed
    uint32_t failures;
    bool cancels, stopping, ended;
    struct worker_state total; // the counters only
};

static void cond_init(pthread_cond_t *c) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(c, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct timespec time_after(uint32_t ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t ns = (uint64_t)t.tv_nsec + (uint64_t)ms * 1000000u;
    t.tv_sec += (time_t)(ns / 1000000000u);
    t.tv_nsec = (long)(ns % 1000000000u);
    return t;
}

static void append(struct job **list, struct job *j) {
    j->next = NULL;
    while (*list) list = &(*list)->next;
    *list = j;
}

static void take_out(struct job **list, struct job *j) {
    while (*list != j) list = &(*list)->next;
    *list = j->next;
    j->next = NULL;
}

// Unlocks; the last holder's release frees the worker.
static void release(struct worker *w) {
    bool last = --w->holders == 0;
    pthread_mutex_unlock(&w->mutex);
    if (!last) return;
    pthread_cond_destroy(&w->wanted);
    pthread_cond_destroy(&w->emptied);
    pthread_mutex_destroy(&w->mutex);
    mem_free(w);
}

// The thread's side. All of it is called with the lock held, which is given up for engine_submit and engine_round.

static void finish(struct worker *w, struct job *j, enum end_reason reason) {
    bool queued = j->state == QUEUED;
    take_out(queued ? &w->queued : &w->active, j);
    *(queued ? &w->n_queued : &w->n_active) -= 1;
    j->state = OVER;
    j->reason = reason;
    w->total.cancelled += reason == END_CANCELLED;
    w->total.failed += reason == END_FAILED;
    w->failures = reason == END_FAILED ? w->failures + 1 : reason == END_CANCELLED ? w->failures : 0;
    if (reason == END_FAILED) log_line(w->log, LOG_LEVEL_ERROR, "a request failed: %s", j->err.message);
    pthread_cond_broadcast(&j->changed);
    if (!w->queued && !w->active) pthread_cond_broadcast(&w->emptied);
}

// Hands the oldest queued job to the engine. It stays in its list meanwhile, and nobody frees it before it is over.
static void start_job(struct worker *w, struct job *j) {
    struct err e = {0};
    pthread_mutex_unlock(&w->mutex);
    enum status status = engine_submit(w->engine, &j->request, &j->stream, &e);
    pthread_mutex_lock(&w->mutex);
    if (status != STATUS_OK) {
        j->err = e;
        finish(w, j, END_FAILED);
        return;
    }
    take_out(&w->queued, j);
    append(&w->active, j);
    w->n_queued--;
    w->n_active++;
    j->state = ACTIVE;
}

static void send_cancels(struct worker *w) {
    if (!w->cancels) return;
    w->cancels = false;
    for (struct job *j = w->active; j; j = j->next) {
        if (j->cancelled && !j->cancel_sent) engine_cancel(w->engine, j->stream);
        j->cancel_sent = j->cancelled;
    }
}

static void end_job(struct worker *w, struct job *j, const struct engine_event *event) {
    j->stats = event->stats;
    j->err = event->err;
    j->widths = mem_new(event->stats.n_prefill_widths, sizeof *j->widths);
    if (!j->widths) j->stats.n_prefill_widths = 0;
    else if (j->stats.n_prefill_widths)
        memcpy(j->widths, event->stats.prefill_widths, j->stats.n_prefill_widths * sizeof *j->widths);
    j->stats.prefill_widths = j->widths;
    w->total.prompt_tokens += j->stats.prompt_tokens;
    finish(w, j, event->reason);
}

static void hand_out(struct worker *w) {
    struct engine_event event;
    while (engine_next_event(w->engine, &event)) {
        struct job *j = w->active;
        while (j && j->stream != event.stream) j = j->next;
        if (!j) continue;
        if (event.kind == EVENT_END) {
            end_job(w, j, &event);
        } else if (j->n < j->n_room) {
            j->tokens[j->n++] = event.token;
            w->total.reply_tokens++;
            w->failures = 0;
            pthread_cond_broadcast(&j->changed);
        }
    }
}

static void *run(void *context) {
    struct worker *w = context;
    pthread_mutex_lock(&w->mutex);
    while (!w->stopping || w->queued || w->active) {
        if (!w->queued && !w->active) {
            pthread_cond_wait(&w->wanted, &w->mutex);
            continue;
        }
        while (w->queued) start_job(w, w->queued);
        send_cancels(w);
        bool busy;
        pthread_mutex_unlock(&w->mutex);
        engine_round(w->engine, &busy);
        pthread_mutex_lock(&w->mutex);
        hand_out(w);
    }
    w->ended = true;
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

// Everybody else's side.

enum status worker_start(const struct worker_options *options, struct worker **out, struct err *e) {
    struct worker *w = mem_new(1, sizeof *w);
    if (!w) return err_set(e, STATUS_NO_MEMORY, "no memory for the worker");
    w->engine = options->engine;
    w->log = options->log;
    w->jobs_max = options->jobs_max ? options->jobs_max : JOBS_MAX;
    w->holders = 1;
    pthread_mutex_init(&w->mutex, NULL);
    cond_init(&w->wanted);
    cond_init(&w->emptied);
    int error = pthread_create(&w->thread, NULL, run, w);
    if (error) {
        pthread_mutex_lock(&w->mutex);
        release(w);
        return err_set(e, STATUS_NO_MEMORY, "the worker's thread could not start: %s", strerror(error));
    }
    *out = w;
    return STATUS_OK;
}

static void cancel(struct worker *w, struct job *j) {
    if (j->state == OVER) return;
    j->cancelled = w->cancels = true;
    pthread_cond_signal(&w->wanted);
}

void worker_stop(struct worker *w, uint32_t grace_ms) {
    const struct timespec until = time_after(grace_ms);
    pthread_mutex_lock(&w->mutex);
    w->stopping = true;
    pthread_cond_signal(&w->wanted);
    while ((w->queued || w->active) && pthread_cond_timedwait(&w->emptied, &w->mutex, &until) != ETIMEDOUT) continue;
    for (struct job *j = w->queued; j; j = j->next) cancel(w, j);
    for (struct job *j = w->active; j; j = j->next) cancel(w, j);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    pthread_mutex_lock(&w->mutex);
    release(w);
}

void worker_state(struct worker *w, struct worker_state *out) {
    uint32_t n_slots = engine_geometry(w->engine)->n_slots;
    pthread_mutex_lock(&w->mutex);
    *out = w->total;
    out->ready = !w->ended && w->failures < FAILURES_MAX;
    out->running = w->n_active < n_slots ? w->n_active : n_slots;
    out->waiting = w->n_queued + w->n_active - out->running;
    pthread_mutex_unlock(&w->mutex);
}

static void job_destroy(struct job *j) {
    mem_free((void *)j->request.prompt);
    mem_free((void *)j->request.stop_ids);
    mem_free(j->tokens);
    mem_free(j->widths);
    pthread_cond_destroy(&j->changed);
    mem_free(j);
}

static int32_t *copy_ids(const int32_t *ids, size_t n) {
    int32_t *copy = mem_new(n, sizeof *copy);
    if (copy && n) memcpy(copy, ids, n * sizeof *copy);
    return copy;
}

static enum status job_new(struct worker *w, const struct engine_request *r, struct job **out, struct err *e) {
    struct job *j = mem_new(1, sizeof *j);
    if (!j) return err_set(e, STATUS_NO_MEMORY, "no memory for a request");
    size_t rest = engine_geometry(w->engine)->context - r->n_prompt;
    j->worker = w;
    j->n_room = r->max_tokens && r->max_tokens < rest ? (size_t)r->max_tokens : rest;
    j->tokens = mem_new(j->n_room, sizeof *j->tokens);
    j->request = *r;
    j->request.prompt = copy_ids(r->prompt, r->n_prompt);
    j->request.stop_ids = copy_ids(r->stop_ids, r->n_stop_ids);
    cond_init(&j->changed);
    *out = j;
    if (j->tokens && j->request.prompt && j->request.stop_ids) return STATUS_OK;
    job_destroy(j);
    return err_set(e, STATUS_NO_MEMORY, "no memory for a request of %zu prompt tokens", r->n_prompt);
}

enum status worker_submit(struct worker *w, const struct engine_request *request, struct job **out, struct err *e) {
    struct job *j = NULL;
    TRY(engine_check(w->engine, request, e));
    TRY(job_new(w, request, &j, e));
    pthread_mutex_lock(&w->mutex);
    uint32_t n = w->n_queued + w->n_active;
    bool stopping = w->stopping;
    if (stopping || n >= w->jobs_max) {
        pthread_mutex_unlock(&w->mutex);
        job_destroy(j);
        if (stopping) return err_set(e, STATUS_BUSY, "the server is stopping");
        return err_set(e, STATUS_BUSY, "%u requests are running or waiting already; try again later", n);
    }
    append(&w->queued, j);
    w->n_queued++;
    w->holders++;
    w->total.requests++;
    pthread_cond_signal(&w->wanted);
    pthread_mutex_unlock(&w->mutex);
    *out = j;
    return STATUS_OK;
}

void job_wait(struct job *j, uint32_t timeout_ms, struct job_event *out) {
    const struct timespec until = time_after(timeout_ms);
    struct worker *w = j->worker;
    *out = (struct job_event){.kind = JOB_NOTHING};
    pthread_mutex_lock(&w->mutex);
    while (j->n_taken == j->n && j->state != OVER)
        if (pthread_cond_timedwait(&j->changed, &w->mutex, &until) == ETIMEDOUT) break;
    if (j->n_taken < j->n) {
        out->kind = JOB_TOKENS;
        out->tokens = j->tokens + j->n_taken;
        out->n = j->n - j->n_taken;
        j->n_taken = j->n;
    } else if (j->state == OVER && !j->end_taken) {
        out->kind = JOB_END;
        out->reason = j->reason;
        out->stats = j->stats;
        out->err = j->err;
        j->end_taken = true;
    }
    pthread_mutex_unlock(&w->mutex);
}

void job_cancel(struct job *j) {
    pthread_mutex_lock(&j->worker->mutex);
    cancel(j->worker, j);
    pthread_mutex_unlock(&j->worker->mutex);
}

void job_free(struct job *j) {
    if (!j) return;
    struct worker *w = j->worker;
    pthread_mutex_lock(&w->mutex);
    cancel(w, j);
    while (j->state != OVER) pthread_cond_wait(&j->changed, &w->mutex);
    release(w);
    job_destroy(j);
}
