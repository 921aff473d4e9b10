// Normal forms in stretches: only the text round a character that may not stay is decomposed, ordered and composed.
#include "text/normal_form.h"

#include "base/mem.h"
#include "text/unicode.h"

#include <string.h>

enum {
    FIRST_INTERESTING = 0xcc, // lead byte of U+0300: everything below is in form C
    HANGUL_BASE = 0xac00, HANGUL_COUNT = 11172,
    L_BASE = 0x1100, L_COUNT = 19,
    V_BASE = 0x1161, V_COUNT = 21,
    T_BASE = 0x11a7, T_COUNT = 28, // T_BASE itself stands for "no trailing consonant"
    DECOMPOSED_MAX = 18, // code points, of U+FDFA
};

// Code points of one stretch.
struct stretch {
    uint32_t *at;
    uint32_t *spare; // as long as `at`, for ordering
    size_t n, cap;
};

static bool composes(enum normal_form form) { return form == NORMAL_FORM_C || form == NORMAL_FORM_KC; }

static uint16_t decomposition_of(enum normal_form form, const struct unicode_nfc *r) {
    return form == NORMAL_FORM_KC || form == NORMAL_FORM_KD ? r->compatible : r->decomposition;
}

// May the character stand in text of this form, whatever stands before it?
static bool may_stay(enum normal_form form, uint32_t c, const struct unicode_nfc *r) {
    if (!composes(form)) return decomposition_of(form, r) == 0 && c - HANGUL_BASE >= HANGUL_COUNT;
    return r->quick == UNICODE_NFC_YES && (form == NORMAL_FORM_C || r->compatible == r->decomposition);
}

// Bytes of ASCII at the beginning, in steps of eight.
static size_t ascii_prefix(const char *text, size_t n) {
    size_t i = 0;
    for (uint64_t word; n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        if (word & 0x8080808080808080u) break;
    }
    return i;
}

// Length of the prefix that is normalized whatever follows; it ends at `n` or where a stretch must begin.
static size_t normalized_prefix(enum normal_form form, const char *text, size_t n) {
    uint8_t interesting = form == NORMAL_FORM_C ? FIRST_INTERESTING : 0x80;
    size_t i = 0, starter = 0;
    uint8_t class_before = 0;
    while (i < n) {
        size_t ascii = ascii_prefix(text + i, n - i);
        if (ascii) {
            class_before = 0;
            i += ascii;
            starter = i - 1;
            continue;
        }
        if ((uint8_t)text[i] < interesting) {
            class_before = 0;
            starter = i++;
            if ((uint8_t)text[starter] >= 0xc0) i++;
            continue;
        }
        uint32_t c;
        bool bad;
        size_t length = utf8_next(text + i, n - i, &c, &bad);
        const struct unicode_nfc *r = unicode_nfc(c);
        bool out_of_order = r->combining_class && r->combining_class < class_before;
        if (!may_stay(form, c, r) || out_of_order) return starter;
        class_before = r->combining_class;
        if (class_before == 0) starter = i;
        i += length;
    }
    return n;
}

bool normal_form_quick_check(enum normal_form form, const char *text, size_t n) {
    return normalized_prefix(form, text, n) == n;
}

// Bytes of the stretch at text[0..n): up to the next character that nothing before it can touch.
static size_t stretch_length(enum normal_form form, const char *text, size_t n) {
    size_t i = 0;
    while (i < n) {
        uint32_t c;
        bool bad;
        size_t length = utf8_next(text + i, n - i, &c, &bad);
        const struct unicode_nfc *r = unicode_nfc(c);
        if (i > 0 && r->combining_class == 0 && may_stay(form, c, r)) break;
        i += length;
    }
    return i;
}

static bool stretch_room(struct stretch *s) {
    if (s->n + DECOMPOSED_MAX <= s->cap) return true;
    size_t cap = s->cap ? 2 * s->cap : 64;
    uint32_t *at = mem_resize(s->at, cap, sizeof *at);
    if (!at) return false;
    s->at = at;
    uint32_t *spare = mem_resize(s->spare, cap, sizeof *spare);
    if (!spare) return false;
    s->spare = spare;
    s->cap = cap;
    return true;
}

static bool decompose(enum normal_form form, struct stretch *s, const char *text, size_t n) {
    s->n = 0;
    for (size_t i = 0; i < n;) {
        uint32_t c;
        bool bad;
        if (!stretch_room(s)) return false;
        i += utf8_next(text + i, n - i, &c, &bad);
        uint32_t syllable = c - HANGUL_BASE;
        uint16_t at = decomposition_of(form, unicode_nfc(c));
        if (syllable < HANGUL_COUNT) {
            s->at[s->n++] = L_BASE + syllable / (V_COUNT * T_COUNT);
            s->at[s->n++] = V_BASE + syllable % (V_COUNT * T_COUNT) / T_COUNT;
            if (syllable % T_COUNT) s->at[s->n++] = T_BASE + syllable % T_COUNT;
        } else if (at) {
            for (uint32_t k = 1; k <= unicode_decompositions[at]; k++) s->at[s->n++] = unicode_decompositions[at + k];
        } else {
            s->at[s->n++] = c;
        }
    }
    return true;
}

// Stable counting sort of marks by combining class: linear however many marks somebody piles up.
static void order_marks(uint32_t *marks, uint32_t *spare, size_t n) {
    size_t start[257] = {0};
    for (size_t i = 0; i < n; i++) start[unicode_nfc(marks[i])->combining_class + 1]++;
    for (size_t k = 1; k < 257; k++) start[k] += start[k - 1];
    for (size_t i = 0; i < n; i++) spare[start[unicode_nfc(marks[i])->combining_class]++] = marks[i];
    memcpy(marks, spare, n * sizeof *marks);
}

static void order(struct stretch *s) {
    for (size_t i = 0; i < s->n;) {
        size_t end = i;
        while (end < s->n && unicode_nfc(s->at[end])->combining_class) end++;
        if (end - i > 1) order_marks(s->at + i, s->spare, end - i);
        i = end + 1;
    }
}

// The character that two compose to, or 0.
static uint32_t composed(uint32_t first, uint32_t second) {
    if (first - L_BASE < L_COUNT && second - V_BASE < V_COUNT)
        return HANGUL_BASE + ((first - L_BASE) * V_COUNT + (second - V_BASE)) * T_COUNT;
    uint32_t syllable = first - HANGUL_BASE;
    if (syllable < HANGUL_COUNT && syllable % T_COUNT == 0 && second - T_BASE - 1 < T_COUNT - 1)
        return first + (second - T_BASE);
    uint32_t low = 0, high = unicode_n_pairs;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const struct unicode_pair *p = &unicode_pairs[middle];
        if (p->first == first && p->second == second) return p->composed;
        if (p->first < first || (p->first == first && p->second < second)) low = middle + 1;
        else high = middle;
    }
    return 0;
}

static void compose(struct stretch *s) {
    size_t n = 0, starter = SIZE_MAX;
    uint8_t class_before = 0; // of the last mark kept since the starter
    for (size_t i = 0; i < s->n; i++) {
        uint32_t c = s->at[i];
        uint8_t class = unicode_nfc(c)->combining_class;
        bool adjacent = starter != SIZE_MAX && n == starter + 1;
        bool blocked = starter == SIZE_MAX || (!adjacent && class_before >= class);
        uint32_t joined = blocked ? 0 : composed(s->at[starter], c);
        if (joined) {
            s->at[starter] = joined;
            continue;
        }
        if (class == 0) starter = n;
        class_before = class;
        s->at[n++] = c;
    }
    s->n = n;
}

static void append(const struct stretch *s, struct buf *out) {
    for (size_t i = 0; i < s->n; i++) {
        char text[4];
        buf_append(out, text, utf8_put(s->at[i], text));
    }
}

enum status normal_form_append(enum normal_form form, const char *text, size_t n, struct buf *out, struct err *e) {
    struct stretch s = {0};
    bool enough = true;
    for (size_t i = 0; i < n;) {
        size_t as_it_is = normalized_prefix(form, text + i, n - i);
        buf_append(out, text + i, as_it_is);
        i += as_it_is;
        size_t length = stretch_length(form, text + i, n - i);
        enough = decompose(form, &s, text + i, length);
        if (!enough) break;
        order(&s);
        if (composes(form)) compose(&s);
        append(&s, out);
        i += length;
    }
    mem_free(s.at);
    mem_free(s.spare);
    if (!enough) return err_set(e, STATUS_NO_MEMORY, "no memory for normalizing %zu bytes of text", n);
    if (out->failed != STATUS_OK) return err_set(e, out->failed, "the normalized text does not fit");
    return STATUS_OK;
}
