// Splits a reply's text into reasoning and answer as it grows.
#ifndef TF_TEXT_REASONING_H
#define TF_TEXT_REASONING_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct reasoning;

enum reasoning_part { REASONING_THOUGHT, REASONING_ANSWER };

// Markers are those of chat_facts (copied). open or close NULL: all text is answer. `inside`: the prompt has opened the
// block already; else the block counts only when it opens the reply (behind white space).
enum status reasoning_new(const char *open, const char *close, bool inside, struct reasoning **out, struct err *e)
    TF_MUST_CHECK;
void reasoning_free(struct reasoning *r);

// Gives pieces of text to `sink`, which may be called several times. Text that may be the beginning of a marker is held
// back; markers are given to nobody, nor is white space that frames a thought. However the text is cut into pieces, the
// parts put together are the same. Never allocates.
typedef void reasoning_sink(void *context, enum reasoning_part part, const char *text, size_t n);
void reasoning_feed(struct reasoning *r, const char *text, size_t n, reasoning_sink *sink, void *context);
// The reply is over: gives what was held.
void reasoning_finish(struct reasoning *r, reasoning_sink *sink, void *context);

enum reasoning_part reasoning_where(const struct reasoning *r); // what the next text would belong to

#endif
