// A reply's ids to its text: special tokens left out, stop strings cut off, reasoning apart from the answer.
#ifndef TF_SERVER_REPLY_TEXT_H
#define TF_SERVER_REPLY_TEXT_H

#include "text/reasoning.h"
#include "text/stopped_text.h"

#include <stddef.h>
#include <stdint.h>

struct reply_text;

enum status reply_text_new(const struct reply_rule *rule, struct reply_text **out, struct err *e) TF_MUST_CHECK;
void reply_text_free(struct reply_text *t);

// Gives `sink` the text that became certain with these ids: nothing that may still be part of a stop string or of a
// marker, and whole characters once the call returns. However ids are cut into calls, the parts put together are the
// same.
enum status reply_text_push(struct reply_text *t, const int32_t *ids, size_t n, reasoning_sink *sink, void *context,
                            struct err *e) TF_MUST_CHECK;
void reply_text_end(struct reply_text *t, reasoning_sink *sink, void *context);

int reply_text_stopped(const struct reply_text *t); // index of the stop string that ended the reply, or -1
uint64_t reply_text_thoughts(const struct reply_text *t); // tokens of reasoning, its markers included

// The judge of tokens inside the engine's rounds: says where a stop string is complete. It allocates nothing after
// stop_watch_new and needs no lock: one thread at a time uses it.
struct stop_watch;

enum status stop_watch_new(const struct reply_rule *rule, struct stop_watch **out, struct err *e) TF_MUST_CHECK;
void stop_watch_free(struct stop_watch *w);
bool stop_watch_complete(struct stop_watch *w, int32_t id); // this id, next in the reply, completes a stop string

#endif
