// Arranging messages: which become one, which change their role, and in which form each content is handed over.
#include "text/chat_normalise.h"

#include "text/chat_message.h"
#include "text/jinja_text.h"

#include <string.h>

struct arranger {
    const struct chat_facts *facts;
    struct arena *arena;
    struct chat_turn *turns;
    size_t n;
};

// A turn's content as one text: parts without anything between them, none as "".
static enum status to_text(struct arena *a, struct jinja_value content, struct jinja_value *out) {
    *out = content;
    if (content.type == JINJA_STRING) return STATUS_OK;
    struct jinja_sink k;
    jinja_sink_init(&k, a, a->limit_bytes);
    for (size_t i = 0; content.type == JINJA_LIST && i < content.list->n; i++) {
        jinja_sink_string(&k, jinja_mapping_text(content.list->at[i].mapping, "text", 4)->string);
    }
    return jinja_sink_end(&k, out);
}

// first's text, a blank line, then's text; without the line where one of them is empty.
static enum status join(struct arena *a, struct jinja_value first, struct jinja_value then, struct jinja_value *out) {
    struct jinja_value left, right;
    struct jinja_sink k;
    TRY(to_text(a, first, &left));
    TRY(to_text(a, then, &right));
    jinja_sink_init(&k, a, a->limit_bytes);
    jinja_sink_string(&k, left.string);
    if (left.string->n && right.string->n) jinja_sink_plain(&k, "\n\n");
    jinja_sink_string(&k, right.string);
    return jinja_sink_end(&k, out);
}

static void remove_turn(struct arranger *r, size_t at) {
    memmove(&r->turns[at], &r->turns[at + 1], (r->n - at - 1) * sizeof *r->turns);
    r->n--;
}

static enum status add_missing_fields(struct arena *a, struct jinja_mapping *to, const struct jinja_mapping *from) {
    for (size_t i = 0; i < from->n; i++) {
        if (!jinja_mapping_find(to, from->at[i].key)) TRY(jinja_mapping_set(a, to, from->at[i].key, from->at[i].value));
    }
    return STATUS_OK;
}

static bool is_instruction(const struct chat_turn *t) {
    return t->role == CHAT_ROLE_SYSTEM || t->role == CHAT_ROLE_DEVELOPER;
}

static enum status merge_leading(struct arranger *r) {
    struct chat_turn *first = &r->turns[0];
    if (!is_instruction(first)) return STATUS_OK;
    while (r->n > 1 && is_instruction(&r->turns[1])) {
        if (r->turns[1].role == CHAT_ROLE_SYSTEM) first->role = CHAT_ROLE_SYSTEM;
        TRY(join(r->arena, first->content, r->turns[1].content, &first->content));
        TRY(add_missing_fields(r->arena, first->fields, r->turns[1].fields));
        remove_turn(r, 1);
    }
    if (first->role == CHAT_ROLE_DEVELOPER && !r->facts->developer) first->role = CHAT_ROLE_SYSTEM;
    return STATUS_OK;
}

// An instruction that the template would not render where it stands becomes a user's.
static void place_instructions(struct arranger *r) {
    for (size_t i = 0; i < r->n; i++) {
        struct chat_turn *t = &r->turns[i];
        if (!is_instruction(t)) continue;
        if (i > 0) t->role = CHAT_ROLE_SYSTEM;
        bool rendered = i > 0 ? r->facts->late_system : t->role == CHAT_ROLE_DEVELOPER || r->facts->system;
        if (rendered) continue;
        t->role = CHAT_ROLE_USER;
        t->moved = true;
    }
}

// Where two user messages in a row are refused, one that was an instruction joins its neighbours.
static enum status join_moved(struct arranger *r) {
    for (size_t i = 1; i < r->n;) {
        struct chat_turn *t = &r->turns[i], *before = t - 1;
        bool both = t->role == CHAT_ROLE_USER && before->role == CHAT_ROLE_USER && (t->moved || before->moved);
        if (!both) {
            i++;
            continue;
        }
        TRY(join(r->arena, before->content, t->content, &before->content));
        TRY(add_missing_fields(r->arena, before->fields, t->fields));
        before->moved = true;
        remove_turn(r, i);
    }
    return STATUS_OK;
}

static enum status to_parts(struct arena *a, struct jinja_value text, struct jinja_value *out) {
    struct jinja_mapping *part;
    struct jinja_list *parts;
    struct jinja_value type;
    TRY(jinja_mapping_new(a, 2, &part));
    TRY(jinja_list_new(a, 1, JINJA_SEQUENCE_LIST, &parts));
    TRY(jinja_string_borrow(a, "text", 4, false, &type));
    TRY(jinja_mapping_put(a, part, "type", type));
    TRY(jinja_mapping_put(a, part, "text", text));
    TRY(jinja_list_push(a, parts, jinja_of_mapping(part)));
    *out = jinja_of_list(parts);
    return STATUS_OK;
}

static enum status hand_over(struct arranger *r, struct chat_turn *t) {
    const struct chat_facts *f = r->facts;
    struct jinja_value role, content = t->content;
    const char *name = chat_role_name(t->role);
    bool empty = content.type == JINJA_NONE || (content.type == JINJA_STRING && content.string->n == 0);
    if (t->has_calls && f->calls_alone && empty) content = jinja_none();
    bool keep_null = content.type == JINJA_NONE && t->has_calls && f->null_content;
    bool keep_parts = content.type == JINJA_LIST && f->content_parts && t->role != CHAT_ROLE_TOOL;
    if (!keep_null && !keep_parts) TRY(to_text(r->arena, content, &content));
    bool only_parts = f->content_parts && !f->content_text;
    if (content.type == JINJA_STRING && only_parts) TRY(to_parts(r->arena, content, &content));
    // A role is a word of ours: templates make control tokens of it.
    TRY(jinja_string_borrow(r->arena, name, strlen(name), false, &role));
    TRY(jinja_mapping_put(r->arena, t->fields, "role", role));
    return jinja_mapping_put(r->arena, t->fields, "content", content);
}

// Text in front of tool calls goes into a message of its own.
static enum status split_calls(struct arranger *r) {
    struct chat_turn *t = &r->turns[r->n - 1];
    struct jinja_value text;
    TRY(to_text(r->arena, t->content, &text));
    if (!t->has_calls || text.string->n == 0) return STATUS_OK;
    t[1] = *t;
    t[1].content = jinja_none();
    *t = (struct chat_turn){.role = t->role, .content = t->content};
    TRY(jinja_mapping_new(r->arena, 2, &t->fields));
    r->n++;
    return STATUS_OK;
}

static enum status read_turns(struct arranger *r, yyjson_val *messages, struct err *e) {
    struct chat_reader reader = {.facts = r->facts, .arena = r->arena, .e = e};
    yyjson_val *message;
    size_t n;
    if (!yyjson_is_arr(messages) || yyjson_arr_size(messages) == 0) {
        return err_set(e, STATUS_INVALID, "messages: %s where a list of messages is expected",
                       yyjson_is_arr(messages) ? "empty" : chat_kind(messages));
    }
    r->turns = arena_new(r->arena, 2 * yyjson_arr_size(messages), sizeof *r->turns);
    if (!r->turns) return STATUS_TOO_LARGE;
    yyjson_arr_foreach(messages, reader.at, n, message) {
        TRY(chat_message_read(&reader, message, &r->turns[r->n++]));
        if (r->facts->calls_alone) TRY(split_calls(r));
    }
    return STATUS_OK;
}

enum status chat_normalise(const struct chat_facts *facts, yyjson_val *messages, yyjson_val *tools, struct arena *a,
                           struct jinja_value *out_messages, struct jinja_value *out_tools, struct err *e) {
    struct arranger r = {.facts = facts, .arena = a};
    struct jinja_list *list;
    TRY(read_turns(&r, messages, e));
    TRY(merge_leading(&r));
    place_instructions(&r);
    if (!facts->two_users) TRY(join_moved(&r));
    TRY(jinja_list_new(a, r.n, JINJA_SEQUENCE_LIST, &list));
    for (size_t i = 0; i < r.n; i++) {
        TRY(hand_over(&r, &r.turns[i]));
        TRY(jinja_list_push(a, list, jinja_of_mapping(r.turns[i].fields)));
    }
    *out_messages = jinja_of_list(list);
    TRY(chat_tools_read(facts, tools, a, out_tools, e));
    if (jinja_truth(*out_tools) && !facts->tools) {
        return err_set(e, STATUS_UNSUPPORTED, "tools: the chat template has no form for them; leave them out");
    }
    return STATUS_OK;
}
