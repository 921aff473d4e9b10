// What is served: all that replies need and that stays the same from request to request. It knows no files.
#ifndef TF_SERVER_SERVING_H
#define TF_SERVER_SERVING_H

#include "base/clock.h"
#include "kernels/draw/draw.h"
#include "text/chat.h"
#include "text/tokenizer.h"

// Everything is borrowed and outlives the server.
struct serving {
    const char *const *names; // [n_names], n_names >= 1: the model's name, then others it answers to
    size_t n_names;
    const struct tokenizer *tokenizer;
    const struct chat_template *chat; // NULL: there is none, and chat is refused
    const int32_t *end_ids;           // [n_end_ids] each ends a reply
    size_t n_end_ids;
    struct draw_rule defaults; // how tokens are drawn unless a request says otherwise
    uint64_t max_tokens;       // longest reply unless a request says otherwise; 0 = the rest of the context
    const char *date;          // "YYYY-MM-DD" for templates that ask; NULL = the current day
    const char *arithmetic;    // "cpu-1"
    struct clock clock;

    // Set by server_start.
    uint32_t context;   // most tokens of prompt and reply together
    uint32_t vocab;     // width of the output matrix
    size_t token_bytes; // of the tokenizer's longest token
};

#endif
