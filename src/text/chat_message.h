// One message of a request, checked, before its place among the others is known.
#ifndef TF_TEXT_CHAT_MESSAGE_H
#define TF_TEXT_CHAT_MESSAGE_H

#include "base/json.h"
#include "text/chat.h"
#include "text/jinja_value.h"

enum chat_role {
    CHAT_ROLE_SYSTEM,
    CHAT_ROLE_DEVELOPER,
    CHAT_ROLE_USER,
    CHAT_ROLE_ASSISTANT,
    CHAT_ROLE_TOOL,
    CHAT_ROLE_COUNT
};
const char *chat_role_name(enum chat_role role);

struct chat_turn {
    enum chat_role role;
    struct jinja_value content;   // text, list of parts, or none
    struct jinja_mapping *fields; // all keys in their order; role and content are still to be set
    bool has_calls;
    bool moved; // it was an instruction, and is a user's message now
};

struct chat_reader {
    const struct chat_facts *facts;
    struct arena *arena;
    struct err *e;
    size_t at; // index of the message
};

enum status chat_message_read(struct chat_reader *r, yyjson_val *message, struct chat_turn *out) TF_MUST_CHECK;

// Every tool in OpenAI's nested form, or what the template wants for none.
enum status chat_tools_read(const struct chat_facts *facts, yyjson_val *tools, struct arena *a,
                            struct jinja_value *out, struct err *e) TF_MUST_CHECK;

// An object's entries without those whose value is null; null means absent wherever it does not say something.
enum status chat_object_read(struct arena *a, yyjson_val *object, struct jinja_mapping **out,
                             struct err *e) TF_MUST_CHECK;

// "a string", "a number", ...
const char *chat_kind(yyjson_val *v);

#endif
