// Parsing of position lists.
#include "cli/positions.h"

#include "base/mem.h"

#include <string.h>

void positions_fini(struct positions *p) {
    mem_free(p->at);
    *p = (struct positions){0};
}

static enum status parse(const char *list, size_t n_prompt, struct positions *p, struct err *e) {
    for (const char *at = list;; at++) {
        size_t digits = strspn(at, "0123456789");
        if (digits == 0 || (at[digits] != ',' && at[digits] != '\0')) {
            return err_set(e, STATUS_INVALID, "--positions takes a list such as 0,5,299, not %s", list);
        }
        uint64_t position = 0;
        for (size_t i = 0; i < digits && position < n_prompt; i++) position = position * 10 + (uint64_t)(at[i] - '0');
        if (position >= n_prompt) {
            return err_set(e, STATUS_INVALID, "position %.*s is outside the %zu ids, which are counted from 0",
                           (int)digits, at, n_prompt);
        }
        p->at[p->n++] = (uint32_t)position;
        at += digits;
        if (*at == '\0') return STATUS_OK;
    }
}

enum status positions_parse(const char *list, size_t n_prompt, struct positions *out, struct err *e) {
    *out = (struct positions){.at = mem_new(strlen(list) / 2 + 1, sizeof *out->at)};
    if (!out->at) return err_set(e, STATUS_NO_MEMORY, "no memory for the positions");
    enum status s = parse(list, n_prompt, out, e);
    if (s != STATUS_OK) positions_fini(out);
    return s;
}
