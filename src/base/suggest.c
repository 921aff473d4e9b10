// Nearest words by edit distance.
#include "base/suggest.h"

#include <string.h>

enum { WORD_MAX = 63 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Insertions, deletions and replacements between two words of at most WORD_MAX bytes; a swap of neighbours counts two.
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            row[j] = smaller(smaller(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

const char *suggest(const char *typed, const char *const *words, size_t n) {
    size_t length = strcspn(typed, "=");
    if (length == 0 || length > WORD_MAX) return NULL;
    const char *best = NULL;
    size_t least = length / 3 > 2 ? length / 3 : 2;
    if (least > length - 1) least = length - 1;
    for (size_t i = 0; i < n; i++) {
        size_t m = strlen(words[i]);
        if (m > WORD_MAX) continue;
        size_t d = distance(typed, length, words[i], m);
        if (d < least + (best == NULL)) {
            least = d;
            best = words[i];
        }
    }
    return best;
}
