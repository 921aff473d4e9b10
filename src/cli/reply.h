// One reply: a request to the engine whose tokens become text, cut at stop strings, handed out in whole characters.
#ifndef TF_CLI_REPLY_H
#define TF_CLI_REPLY_H

#include "cli/session.h"
#include "text/tokenizer.h"

#include <stdbool.h>

struct reply_request {
    const struct tokenizer *tokenizer;
    const int32_t *prompt;
    size_t n_prompt;
    uint64_t max_tokens;   // 0 = the rest of the context
    struct draw_rule rule; // n_ids is set by reply_run
    const int32_t *end_ids;
    size_t n_end_ids;
    const char *const *stops;
    size_t n_stops;
    void (*text)(void *context, const char *text, size_t n); // text of the reply as it becomes certain
    bool (*cancelled)(void *context);                        // asked between rounds; NULL = never
    void *context;
};

struct reply {
    enum end_reason reason;
    struct engine_stats stats; // prefill_widths NULL
};

// Runs a reply to its end. A cancelled one is no error.
enum status reply_run(struct session *s, const struct reply_request *r, struct reply *out, struct err *e) TF_MUST_CHECK;

// Runs the engine until `stream` has ended and appends its tokens to `ids`; `end` receives its last event, whose
// prefill_widths stay valid until the engine is asked for the next event. A failed stream is the error.
enum status reply_ids(struct session *s, uint64_t stream, struct ids *ids, struct engine_event *end,
                      struct err *e) TF_MUST_CHECK;

#endif
