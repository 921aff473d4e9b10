// Spellings met in published templates.
#include "text/chat_switches.h"

const struct chat_switch chat_switches[CHAT_SWITCHES] = {
    {"enable_thinking", "true", "false"},
    {"thinking", "true", "false"},
    {"reasoning", "true", "false"},
    {"thinking_mode", "\"enabled\"", "\"disabled\""},
    {"thinking_option", "\"on\"", "\"off\""},
    {"thinking_budget", "null", "0"},
};

const char *const chat_effort_names[CHAT_EFFORT_NAMES] = {"reasoning_effort", "thinking_effort", "reasoning_strength"};
