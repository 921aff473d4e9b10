// A compiled template with the variables that Hugging Face's apply_chat_template gives it.
#ifndef TF_TEXT_CHAT_CONTEXT_H
#define TF_TEXT_CHAT_CONTEXT_H

#include "base/arena.h"
#include "base/json.h"
#include "text/jinja.h"

struct chat_context {
    struct jinja *jinja;    // owned
    char *bos, *eos;        // owned
};

struct chat_values {
    struct jinja_value messages;
    struct jinja_value tools; // or none
    yyjson_val *kwargs;       // object, or NULL
    uint32_t switches;        // other spellings of the switches in kwargs that are set along (chat_switches.h)
    bool add_generation_prompt;
    const char *date;         // "YYYY-MM-DD"; NULL: there is no strftime_now
};

// Whether the text is "YYYY-MM-DD" and names a day of the Gregorian calendar, from year 1 on.
bool chat_context_is_day(const char *text);

// Renders over values that live in `a`. `limits` may be NULL; its clock is not read. *read_date tells whether the
// template asked for the date.
enum status chat_context_render(const struct chat_context *c, struct arena *a, const struct chat_values *v,
                                const struct jinja_options *limits, struct jinja_output *out, bool *read_date,
                                struct err *e) TF_MUST_CHECK;

#endif
