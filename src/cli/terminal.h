// The terminal of a chat: edited input lines with history, and Ctrl-C as an event instead of an end.
#ifndef TF_CLI_TERMINAL_H
#define TF_CLI_TERMINAL_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

struct terminal;

// Takes over standard input and output, which are a terminal. From here on SIGINT is held back in this thread and in
// those it starts, so call it before any is started. `history` is the file that entered lines are kept in, or NULL.
enum status terminal_open(const char *history, struct terminal **out, struct err *e) TF_MUST_CHECK;
void terminal_close(struct terminal *t);

enum terminal_input {
    TERMINAL_INPUT_LINE,
    TERMINAL_INPUT_INTERRUPTED, // Ctrl-C: what was typed is dropped
    TERMINAL_INPUT_END,         // Ctrl-D on an empty line, or the terminal is gone
};

// Reads one input, which may have several lines (pasted, or made with Alt-Enter), as UTF-8 without the last newline.
enum terminal_input terminal_read(struct terminal *t, struct buf *text);

// True once for every Ctrl-C since the last question.
bool terminal_interrupted(struct terminal *t);

#endif
