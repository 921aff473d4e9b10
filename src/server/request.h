// A generating request read from JSON: every field judged, nothing rendered or tokenized yet.
#ifndef TF_SERVER_REQUEST_H
#define TF_SERVER_REQUEST_H

#include "kernels/draw/draw.h"
#include "server/field_table.h"
#include "text/stop.h"

// Whether a template lets the model think aloud first.
enum thinking { THINKING_UNSAID, THINKING_OFF, THINKING_ON };

// All strings and values belong to the document.
struct request {
    enum api_route route;
    const char *model; // as asked, or NULL
    bool stream, include_usage;
    bool limited; // max_tokens was given, 0 included
    uint64_t max_tokens;
    struct draw_rule rule; // the defaults with the request's fields over them; its seed only counts when seeded
    bool seeded;
    bool ignore_eos;
    const char *stops[STOP_STRINGS_MAX];
    size_t stop_bytes[STOP_STRINGS_MAX];
    size_t n_stops;

    // API_CHAT
    yyjson_val *messages;
    yyjson_val *tools;  // not empty, or NULL
    yyjson_val *kwargs; // further variables for the template, or NULL
    enum thinking thinking;
    const char *effort; // of reasoning, as asked; NULL = unsaid, or thinking is off

    // API_COMPLETION
    yyjson_val *prompt; // a string, or a list of ids
    bool echo;
    bool add_special; // put round a text what the tokenizer's post-processor adds
};

// Reads the body of a request to `route`; `defaults` is how tokens are drawn unless it says otherwise.
enum status request_read(enum api_route route, yyjson_val *body, const struct draw_rule *defaults, struct request *out,
                         struct api_error *e) TF_MUST_CHECK;

#endif
