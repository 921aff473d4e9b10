// Messages and tools in the forms that a template understands; everything is checked, nothing is dropped in silence.
//
// Messages, by what chat_facts says of the template:
//   role       in any case; "function" is "tool"; "developer" is "system" unless the template knows it; others refused
//   leading    system and developer messages become one, joined by a blank line
//   system     that the template would not render, in front or behind others, becomes a user message; where two user
//              messages in a row are refused it joins its neighbours
//   content    [{"type": "text"}, ...] becomes one text, or a text becomes parts, where the template needs it; null and
//              missing content of an assistant message with tool calls or reasoning becomes ""; other types are refused
//   tool_calls arguments given as text become an object, or an object becomes text, where the template wants only that
//   reasoning  "reasoning_content" and "reasoning" are one thing, given under the name that the template reads
// All other keys are passed on. Tools in OpenAI's flat form and with Anthropic's "input_schema" become the nested form.
#ifndef TF_TEXT_CHAT_NORMALISE_H
#define TF_TEXT_CHAT_NORMALISE_H

#include "base/json.h"
#include "text/chat.h"
#include "text/jinja_value.h"

// `tools` may be NULL; an empty array gives none. Values live in `a`, text of the input in them is marked as data.
// A failure names the field: "messages[1].content[0].type: ...".
enum status chat_normalise(const struct chat_facts *facts, yyjson_val *messages, yyjson_val *tools, struct arena *a,
                           struct jinja_value *out_messages, struct jinja_value *out_tools,
                           struct err *e) TF_MUST_CHECK;

// The arguments of a call given as JSON text: an object; "" and "null" are an empty one.
enum status chat_arguments_object(const char *where, const char *text, size_t n, struct arena *a,
                                  struct jinja_value *out, struct err *e) TF_MUST_CHECK;

#endif
