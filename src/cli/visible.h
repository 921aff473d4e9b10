// Text for a terminal: what it would act on is made visible instead.
#ifndef TF_CLI_VISIBLE_H
#define TF_CLI_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

// Prints n bytes of UTF-8 with U+FFFD for every control character but newline and tab.
void visible_print(FILE *out, const char *text, size_t n);

// Prints a terminated message with U+FFFD for newlines and tabs too: it stays one line, whatever a file put into it.
void visible_print_line(FILE *out, const char *text);

#endif
