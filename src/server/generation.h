// One request on its way to a reply: a job of the worker, its tokens read as text, its figures.
#ifndef TF_SERVER_GENERATION_H
#define TF_SERVER_GENERATION_H

#include "server/prompt.h"
#include "server/reply_facts.h"
#include "server/reply_text.h"
#include "server/worker.h"

struct generation;

struct generation_order {
    const struct serving *serving;
    struct worker *worker;
    const struct request *request; // copied
    struct prompt *prompt;
    yyjson_doc *doc;     // what the request points into
    uint64_t arrived_ns; // when it came, by the serving's clock
};

// Checks that prompt and reply fit the context and queues the job. Everything that can be refused is refused here.
// Takes over the prompt (in any case) and, when it succeeds, the document.
enum status generation_start(const struct generation_order *order, struct generation **out,
                             struct api_error *e) TF_MUST_CHECK;

// Cancels what still runs.
void generation_free(struct generation *g);

enum generation_state { GENERATION_RUNS, GENERATION_ENDED, GENERATION_FAILED };

// Waits at most timeout_ms for what comes next and gives its text to `sink`. GENERATION_FAILED: *e says why.
enum generation_state generation_next(struct generation *g, uint32_t timeout_ms, reasoning_sink *sink, void *context,
                                      struct api_error *e);

// Its end is known once generation_next has said GENERATION_ENDED. The text with which a reply begins that echoes its
// prompt is not part of it.
const struct reply_facts *generation_facts(const struct generation *g);
const struct buf *generation_echo(const struct generation *g);
const struct request *generation_request(const struct generation *g);

#endif
