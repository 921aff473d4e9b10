// How templates spell the switches that a request sets as enable_thinking and reasoning_effort.
#ifndef TF_TEXT_CHAT_SWITCHES_H
#define TF_TEXT_CHAT_SWITCHES_H

#include "base/json.h"
#include "text/jinja_value.h"

struct chat_switch {
    const char *name;
    const char *on, *off; // JSON text; NULL: then it is not given
};

enum { CHAT_SWITCHES = 6, CHAT_EFFORT_NAMES = 3 };
extern const struct chat_switch chat_switches[CHAT_SWITCHES];  // the first is enable_thinking
extern const char *const chat_effort_names[CHAT_EFFORT_NAMES]; // the first is reasoning_effort

// Bits of chat_facts.switches.
static inline uint32_t chat_switch_bit(unsigned i) { return 1u << i; }
static inline uint32_t chat_effort_bit(unsigned i) { return 1u << (CHAT_SWITCHES + i); }

// Gives the template the other spellings that it reads, `spellings`, of what kwargs (object, or NULL) says under the
// first ones; what kwargs spells itself stays.
enum status chat_switches_put(uint32_t spellings, yyjson_val *kwargs, struct arena *a,
                              struct jinja_mapping *root) TF_MUST_CHECK;

#endif
