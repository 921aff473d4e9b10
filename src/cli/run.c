// Opening a model for text, and printing replies.
#include "cli/run.h"

#include "cli/sampling.h"
#include "cli/visible.h"
#include "text/reasoning.h"

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
    TRY(sampling_recommended(c, &r->session.log, &r->rule, e));
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
    const char *date = options_text(o, FLAG_DATE);
    if (date) snprintf(r->date, sizeof r->date, "%s", date);
    else environment_today(r->date);
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

#define DIM "\033[2m"
#define UNDIM "\033[0m"

struct printer {
    struct run *run;
    struct run_text *kept;       // or NULL
    struct reasoning *reasoning; // NULL: text is printed as it comes
    bool dimmed;
    char last; // byte printed
};

static void undim(struct printer *p, const char *then) {
    if (!p->dimmed) return;
    fputs(UNDIM, stdout);
    fputs(then, stdout);
    p->dimmed = false;
}

static void print_part(void *context, enum reasoning_part part, const char *text, size_t n) {
    struct printer *p = context;
    bool thought = part == REASONING_THOUGHT;
    if (thought && !p->dimmed) fputs(DIM, stdout);
    if (thought) p->dimmed = true;
    else undim(p, "\n\n");
    visible_print(stdout, text, n);
    if (p->kept) buf_append(thought ? &p->kept->thought : &p->kept->answer, text, n);
    p->last = text[n - 1];
}

static void print_text(void *context, const char *text, size_t n) {
    struct printer *p = context;
    if (p->reasoning) {
        reasoning_feed(p->reasoning, text, n, print_part, p);
    } else {
        fwrite(text, 1, n, stdout);
        p->last = text[n - 1];
    }
    fflush(stdout);
}

static bool is_cancelled(void *context) {
    struct printer *p = context;
    return p->run->terminal && terminal_interrupted(p->run->terminal);
}

static enum status run_printed(struct printer *p, const struct ids *prompt, struct reply *out, struct err *e) {
    struct run *r = p->run;
    const struct options *o = r->options;
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
                                    .context = p};
    request.rule.seed = sampling_seed(o, prompt->at, prompt->n);
    return reply_run(&r->session, &request, out, e);
}

enum status run_reply(struct run *r, const struct ids *prompt, bool opens_reasoning, struct run_text *kept,
                      struct reply *out, struct err *e) {
    static const struct chat_facts none;
    const struct chat_facts *facts = r->text.chat ? chat_template_facts(r->text.chat) : &none;
    struct printer p = {.run = r, .kept = kept, .last = '\n'};
    if (r->to_terminal || kept) {
        TRY(reasoning_new(facts->think_open, facts->think_close, opens_reasoning, &p.reasoning, e));
    }
    enum status s = run_printed(&p, prompt, out, e);
    if (p.reasoning) reasoning_finish(p.reasoning, print_part, &p);
    undim(&p, "");
    if (p.last != '\n') fputc('\n', stdout);
    fflush(stdout);
    reasoning_free(p.reasoning);
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
