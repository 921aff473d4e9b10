// Opening a model for text, and printing replies.
#include "cli/run.h"

#include "cli/sampling.h"
#include "cli/visible.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

// The text side is opened by a thread of its own while the weights are packed: a reply should start at once.
struct text_job {
    struct run *run;
    enum status status;
    struct err err;
};

static enum status open_text(struct run *r, struct err *e) {
    const struct checkpoint *c = r->session.checkpoint;
    TRY(model_text_open(c, &r->text, e));
    TRY(model_text_end_ids(c, r->text.tokenizer, r->end_ids, &r->n_end_ids, e));
    TRY(sampling_recommended(c, &r->rule, e));
    sampling_from_flags(r->options, &r->rule);
    return STATUS_OK;
}

static void *run_text_job(void *context) {
    struct text_job *job = context;
    job->status = open_text(job->run, &job->err);
    return NULL;
}

enum status run_open(struct run *r, const struct options *o, const char *model, struct command_error *e) {
    r->options = o;
    r->to_terminal = isatty(STDOUT_FILENO);
    TRY(session_open(&r->session, o, model, e));
    struct text_job job = {.run = r};
    pthread_t thread;
    bool threaded = pthread_create(&thread, NULL, run_text_job, &job) == 0;
    if (!threaded) run_text_job(&job);
    enum status s = session_load(&r->session, o, &e->err);
    if (threaded) pthread_join(thread, NULL);
    if (s == STATUS_OK && job.status != STATUS_OK) {
        e->err = job.err;
        s = job.status;
    }
    return s;
}

void run_close(struct run *r) {
    session_close(&r->session);
    model_text_close(&r->text);
}

struct printer {
    struct run *run;
    struct buf *kept;
    char last; // byte printed
};

static void print_text(void *context, const char *text, size_t n) {
    struct printer *p = context;
    if (p->run->to_terminal) {
        visible_print(stdout, text, n);
    } else {
        fwrite(text, 1, n, stdout);
    }
    fflush(stdout);
    if (p->kept) buf_append(p->kept, text, n);
    p->last = text[n - 1];
}

static bool is_cancelled(void *context) {
    struct printer *p = context;
    return p->run->terminal && terminal_interrupted(p->run->terminal);
}

enum status run_reply(struct run *r, const struct ids *prompt, struct buf *kept, struct reply *out, struct err *e) {
    const struct options *o = r->options;
    struct printer printer = {.run = r, .kept = kept, .last = '\n'};
    struct reply_request request = {.tokenizer = r->text.tokenizer,
                                    .prompt = prompt->at,
                                    .n_prompt = prompt->n,
                                    .max_tokens = options_count(o, FLAG_MAX_TOKENS, 0),
                                    .rule = r->rule,
                                    .end_ids = r->end_ids,
                                    .n_end_ids = r->n_end_ids,
                                    .stops = o->list,
                                    .n_stops = o->n_list,
                                    .text = print_text,
                                    .cancelled = is_cancelled,
                                    .context = &printer};
    request.rule.seed = sampling_seed(o, prompt->at, prompt->n);
    enum status s = reply_run(&r->session, &request, out, e);
    if (printer.last != '\n') fputc('\n', stdout);
    fflush(stdout);
    return s;
}

void run_print_stats(const struct run *r, const struct reply *reply) {
    const struct engine_stats *s = &reply->stats;
    const char *ends[] = {[END_LENGTH] = ", cut at --max-tokens",
                          [END_CONTEXT] = ", cut at the end of the context",
                          [END_CANCELLED] = ", stopped"};
    const char *ended = reply->reason < sizeof ends / sizeof ends[0] ? ends[reply->reason] : NULL;
    uint64_t now = clock_now_ns(&r->session.clock);
    double start_ms = clock_ms_between(r->session.opened_ns, now) - s->decode_ms;
    double rate = s->reply_tokens > 1 && s->decode_ms > 0 ? (double)(s->reply_tokens - 1) * 1e3 / s->decode_ms : 0;
    fprintf(stderr, "[%llu prompt tokens, %llu reply tokens, %.1f tok/s, first token after %.3f s",
            (unsigned long long)s->prompt_tokens, (unsigned long long)s->reply_tokens, rate, s->prompt_ms * 1e-3);
    if (!r->terminal) fprintf(stderr, " (%.3f s from start)", start_ms * 1e-3);
    fprintf(stderr, ", token_sha %s%s]\n", s->token_sha, ended ? ended : "");
}
