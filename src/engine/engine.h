// The engine: streams in, rounds of the model, events out. Token ids only; no text, no JSON, no device memory.
#ifndef TF_ENGINE_ENGINE_H
#define TF_ENGINE_ENGINE_H

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "kernels/draw/draw.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the server's callback says of each accepted token of a reply, in order, before the next is looked at.
enum accept {
    ACCEPT_CONTINUE,
    ACCEPT_STOP,  // this token completes the reply (a stop string); it counts, later tokens of the path are dropped
    ACCEPT_FORCE, // the next token must be *forced; drafts behind this one are dropped
};
typedef enum accept accept_fn(void *context, int32_t token, int32_t *forced);

enum end_reason {
    END_STOP_TOKEN,  // a stop id was drawn
    END_STOP_TEXT,   // the callback said so
    END_LENGTH,      // max_tokens
    END_CONTEXT,     // the context is full
    END_CANCELLED,
    END_FAILED,      // see the event's error
};

struct engine_request {
    const int32_t *prompt; // copied at submit
    size_t n_prompt;       // >= 1
    uint64_t max_tokens;   // 0 = the rest of the context
    struct draw_rule rule; // n_ids 0 = all ids of the output matrix
    const int32_t *stop_ids; // copied; a drawn one ends the reply and counts as its last token
    size_t n_stop_ids;
    accept_fn *accept; // runs inside the round: must not allocate or wait; NULL accepts all
    void *accept_context;
};

struct engine_stats {
    uint64_t prompt_tokens, reply_tokens, rounds;
    double prompt_ms, decode_ms; // submit to first token; first token to end
    const uint32_t *prefill_widths; // rows of each pass the prompt took; valid until engine_next_event is called again
    size_t n_prefill_widths;
    char token_sha[13]; // first 12 hex digits of SHA-256 over the reply's ids in decimal joined by commas
};

enum event_kind { EVENT_TOKEN, EVENT_END };

struct engine_event {
    enum event_kind kind;
    uint64_t stream; // as engine_submit gave it
    int32_t token;   // EVENT_TOKEN
    enum end_reason reason; // EVENT_END, with stats and, for END_FAILED, the error
    struct engine_stats stats;
    struct err err; // END_FAILED
};

// Guesses the tokens that follow `tokens[0..n)`; writes at most `cap` of them and returns how many. A wrong guess costs
// a row, never a token of the reply.
struct proposer {
    uint32_t (*propose)(void *context, const int32_t *tokens, size_t n, int32_t *drafts, uint32_t cap);
    void *context;
};

struct engine_options {
    struct clock clock;
    const struct log *log; // or NULL
    uint32_t prefill_width; // rows a pass of a lone prompt; 0 = the engine chooses
    double prompt_round_ms; // longest pass it aims for: 500 on a CPU, 250 on a GPU; 0 = 500
    const struct proposer *proposer; // NULL = no drafts
    uint32_t drafts_max;             // drafts a window; ignored without a proposer
};

struct engine;

// The engine borrows the model, which must outlive it. All memory that rounds need is taken here.
enum status engine_new(struct model *model, const struct engine_options *options, struct engine **out, struct err *e)
    TF_MUST_CHECK;
void engine_free(struct engine *engine);

// What the model's memory allows; fixed after engine_new, any thread may read it.
const struct model_geometry *engine_geometry(const struct engine *engine);

// Refuses what engine_submit would refuse of the request itself. Reads only what is fixed after engine_new, so that any
// thread may ask while another one runs rounds.
enum status engine_check(const struct engine *engine, const struct engine_request *request, struct err *e)
    TF_MUST_CHECK;

// Queues a request. A prompt that leaves no room for one token, ids out of range or an impossible rule are refused here
// with both numbers, and nothing else is harmed.
enum status engine_submit(struct engine *engine, const struct engine_request *request, uint64_t *stream, struct err *e)
    TF_MUST_CHECK;

// Ends a stream before the next round's forward; its end event comes with that round.
void engine_cancel(struct engine *engine, uint64_t stream);

// Runs one round if there is work. *busy says whether more is waiting. Events must be taken between rounds: while there
// is no room for those of a whole round, nothing runs. A round that fails ends its streams with END_FAILED and leaves
// the engine sound. Never allocates.
void engine_round(struct engine *engine, bool *busy);

// Takes the oldest event; false when there is none.
bool engine_next_event(struct engine *engine, struct engine_event *out);

// token_sha of n ids, for tools that hold a reply as a list.
void engine_token_sha(const int32_t *ids, size_t n, char out[13]);

// The seed of a request that names none: the number that the token_sha of its prompt spells.
uint64_t engine_default_seed(const int32_t *prompt, size_t n);

#endif
