// What a template understands, found by rendering small conversations with marked words.
#ifndef TF_TEXT_CHAT_PROBE_H
#define TF_TEXT_CHAT_PROBE_H

#include "text/chat.h"
#include "text/chat_context.h"

// `source` is the template's own text, n bytes. A conversation that the template refuses is a finding, no failure.
enum status chat_probe(const struct chat_context *c, const char *source, size_t n, struct chat_facts *out,
                       struct err *e) TF_MUST_CHECK;

#endif
