// What a reply tells about itself beside its text, in every dialect.
#ifndef TF_SERVER_REPLY_FACTS_H
#define TF_SERVER_REPLY_FACTS_H

#include "engine/engine.h"
#include "server/field_table.h"

struct reply_facts {
    // Known from the start.
    enum api_route route;
    char id[48];
    int64_t created;         // seconds since 1970
    const char *model;       // the name it is called by
    const char *arithmetic;
    bool thinking;           // the model may reason before it answers
    const char *effort;      // of reasoning, or NULL
    const char *date;        // the day that the template was told; NULL = it did not ask
    bool sampled;            // tokens are drawn with noise, not the likeliest taken
    bool include_usage;
    uint32_t context;
    uint64_t prompt_tokens;

    // Known at the end.
    enum end_reason reason;
    const char *stop; // the stop string that ended it, or NULL
    size_t stop_bytes;
    uint64_t thought_tokens; // of the reply's tokens, those of reasoning
    struct engine_stats stats;
    double first_s, seconds; // from the request's arrival to the first token and to the last
};

#endif
