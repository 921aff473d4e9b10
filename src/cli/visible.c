// Control characters out of files and replies must not reach a terminal.
#include "cli/visible.h"

#include <stdbool.h>
#include <string.h>

// Length of the control character at text[0..n), 0 when there is none.
static size_t control_bytes(const char *text, size_t n) {
    unsigned char c = (unsigned char)text[0];
    if (c < 0x20 || c == 0x7f) return 1;
    if (c == 0xc2 && n > 1 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0) return 2;
    return 0;
}

static void print(FILE *out, const char *text, size_t n, const char *kept) {
    for (size_t i = 0; i < n;) {
        size_t control = control_bytes(text + i, n - i);
        if (control && !(text[i] && strchr(kept, text[i]))) {
            fputs("\uFFFD", out);
            i += control;
        } else {
            putc(text[i++], out);
        }
    }
}

void visible_print(FILE *out, const char *text, size_t n) { print(out, text, n, "\n\t"); }
void visible_print_line(FILE *out, const char *text) { print(out, text, strlen(text), ""); }
