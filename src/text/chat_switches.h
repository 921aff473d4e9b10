// How templates spell the switches that a request sets as enable_thinking and reasoning_effort.
#ifndef TF_TEXT_CHAT_SWITCHES_H
#define TF_TEXT_CHAT_SWITCHES_H

#include <stddef.h>

struct chat_switch {
    const char *name;
    const char *on, *off; // JSON; "null": not given
};

enum { CHAT_SWITCHES = 6, CHAT_EFFORT_NAMES = 3 };
extern const struct chat_switch chat_switches[CHAT_SWITCHES]; // the first is enable_thinking
extern const char *const chat_effort_names[CHAT_EFFORT_NAMES]; // the first is reasoning_effort

#endif
