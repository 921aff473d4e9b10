// One request being decoded: its tokens, what of them the model holds, and how it ends.
//
//   QUEUED --admit--> RUNNING --round: stop, length, cancel, failure--> ENDED --end event taken--> freed
//   QUEUED --cancel--> ENDED
//
// tokens[0 .. n_prompt) is the prompt, tokens[n_prompt .. n_tokens) the reply so far. The model's state covers
// tokens[0 .. n_kept); the next window feeds tokens[n_kept .. n_tokens) and then drafts. The last token of a reply is
// never fed.
#ifndef TF_ENGINE_STREAM_H
#define TF_ENGINE_STREAM_H

#include "engine/engine.h"

enum stream_state { STREAM_QUEUED, STREAM_RUNNING, STREAM_ENDED };

struct stream {
    struct stream *next; // in the engine's list, oldest first
    uint64_t id;
    enum stream_state state;
    bool cancelled;

    // Fixed after submit.
    struct engine_request request; // its pointers are the stream's own copies
    size_t n_prompt, n_tokens_max; // prompt, prompt + longest reply

    int32_t *tokens; // [n_tokens_max]
    size_t n_tokens, n_kept;
    uint32_t slot;
    int32_t *pages; // [n_pages], taken at admission
    uint32_t n_pages;

    uint32_t *prefill_widths; // [n_prompt]
    size_t n_prefill_widths;
    uint64_t submitted_ns, first_token_ns, ended_ns, rounds;
    enum end_reason reason;
    struct err err;
};

// Copies the request. `context` is the most tokens a stream may hold; the request was checked against it.
enum status stream_new(const struct engine_request *request, size_t context, struct stream **out, struct err *e)
    TF_MUST_CHECK;
void stream_free(struct stream *s);

// Told of every token that joins a reply.
struct stream_sink {
    void (*token)(void *context, struct stream *s, int32_t token);
    void *context;
};

// Adds one token to the reply, tells the sink and asks the stop rules; false when the reply is over, with s->reason
// set. A forced token joins at once behind the one that asked for it, and *forced says that one did.
bool stream_commit(struct stream *s, int32_t token, bool *forced, const struct stream_sink *sink);

// Figures of a stream that has ended.
void stream_stats(const struct stream *s, struct engine_stats *out);

#endif
