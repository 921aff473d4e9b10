// Chat requests to prompts through the checkpoint's own template; text from people never becomes a control token.
#ifndef TF_TEXT_CHAT_H
#define TF_TEXT_CHAT_H

#include "base/buf.h"
#include "base/json.h"
#include "text/tokenizer.h"

struct chat_template;

// Compiles a Jinja template (text, n bytes) in Hugging Face's settings and probes it with marked messages, so that it
// is known from the start which forms of a message it understands. bos and eos are what the template sees as bos_token
// and eos_token ("" for none). A syntax error names line and column.
enum status chat_template_new(const char *text, size_t n, const char *bos, const char *eos, struct chat_template **out,
                              struct err *e) TF_MUST_CHECK;
void chat_template_free(struct chat_template *t);

// Levels of "reasoning_effort", rising.
enum chat_effort {
    CHAT_EFFORT_NONE,
    CHAT_EFFORT_MINIMAL,
    CHAT_EFFORT_LOW,
    CHAT_EFFORT_MEDIUM,
    CHAT_EFFORT_HIGH,
    CHAT_EFFORT_XHIGH,
    CHAT_EFFORT_MAX,
    CHAT_EFFORT_COUNT
};
const char *chat_effort_name(enum chat_effort effort); // "none", "minimal", ...

// What the probes found. Where a template lacks something the messages are adapted: see chat_normalise.h.
struct chat_facts {
    bool system;            // renders a first system message
    bool late_system;       // renders a system message behind others
    bool developer;         // has a rendering of its own for the role "developer"
    bool two_users;         // takes two user messages in a row
    bool content_text;      // takes content as a string
    bool content_parts;     // takes content as an array of parts
    bool null_content;      // takes null as the content of an assistant message with tool calls
    bool tools;             // renders the list of tools
    bool tools_list;        // wants an empty list rather than null where there are no tools
    bool tools_whole;       // wants a description and parameters of every tool
    bool tool_calls;        // renders the tool calls of an assistant message
    bool calls_alone;       // does so only where the content is null
    bool tool_results;      // renders messages of the role "tool"
    bool arguments_object;  // wants the arguments of a call as an object rather than as JSON text
    bool arguments_text;    // wants them as JSON text rather than as an object; neither: it takes both
    bool thinking_switch;   // "enable_thinking" changes what it renders; other spellings are set along with it
    bool reasoning_effort;  // "reasoning_effort" changes what it renders; the same
    uint32_t switches;      // bit set of the spellings it reads (chat_switches.h)
    uint32_t efforts;       // bit set of the levels (enum chat_effort) that it does not refuse
    bool history_reasoning; // renders "reasoning_content" of earlier assistant messages
    const char *reasoning_key; // the name that it reads them under; NULL = none
    const char *think_open, *think_close; // "<think>", "</think>": what it puts round reasoning; NULL = none
};
const struct chat_facts *chat_template_facts(const struct chat_template *t);

// One conversation in the form of OpenAI's chat API. All values are borrowed for the call.
struct chat_input {
    yyjson_val *messages; // array of objects with "role" and what belongs to it
    yyjson_val *tools;    // array, null or NULL
    yyjson_val *kwargs;   // object of further variables for the template, null or NULL
    bool add_generation_prompt;
    const char *date;     // "YYYY-MM-DD", the day strftime_now tells (at midnight); NULL: there is no such function
};

struct chat_prompt {
    struct buf text;        // as rendered
    struct text_span *data; // [n_data] bytes of it that came from the input; owned
    size_t n_data;
    bool opens_reasoning;   // it ends inside an open reasoning block: the reply begins with reasoning
    bool read_date;         // the template asked for the date
};
void chat_prompt_fini(struct chat_prompt *p); // a zeroed one too

// Renders a conversation into *out, which chat_prompt_fini frees. On failure nothing is left in it.
// STATUS_INVALID: a message is not of a known form ("messages[2].content: ..."), or the template itself refuses the
// conversation (its own words). STATUS_UNSUPPORTED: the template has no form for a part of it, which is named.
enum status chat_render(const struct chat_template *t, const struct chat_input *input, struct chat_prompt *out,
                        struct err *e) TF_MUST_CHECK;

// Appends the prompt's ids: text of the template is tokenized with added tokens, what came from the input as plain
// data. For input without control tokens in it the ids equal those of the rendered text.
enum status chat_encode(const struct chat_prompt *p, const struct tokenizer *tokenizer, struct ids *out,
                        struct err *e) TF_MUST_CHECK;

#endif
