// Sets of code points, made out of the pinned Unicode tables.
#include "text/char_set.h"

#include "base/mem.h"
#include "text/unicode.h"

#include <string.h>

enum { LAST = 0x10ffff, SURROGATE_FIRST = 0xd800, SURROGATE_LAST = 0xdfff };

void char_set_fini(struct char_set *s) {
    mem_free(s->ranges);
    *s = (struct char_set){0};
}

static bool push(struct char_set *s, uint32_t first, uint32_t last) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct char_range *ranges = mem_resize(s->ranges, cap, sizeof *ranges);
        if (!ranges) return false;
        s->ranges = ranges;
        s->cap = cap;
    }
    s->ranges[s->n++] = (struct char_range){first, last};
    return true;
}

// Adds a range that begins behind all others.
static bool push_last(struct char_set *s, uint32_t first, uint32_t last) {
    if (!s->n || s->ranges[s->n - 1].last + 1 < first) return push(s, first, last);
    if (s->ranges[s->n - 1].last < last) s->ranges[s->n - 1].last = last;
    return true;
}

bool char_set_unite(struct char_set *s, const struct char_set *other) {
    struct char_set both = {0};
    bool enough = true;
    for (size_t i = 0, k = 0; (i < s->n || k < other->n) && enough;) {
        bool ours = k == other->n || (i < s->n && s->ranges[i].first < other->ranges[k].first);
        struct char_range r = ours ? s->ranges[i++] : other->ranges[k++];
        enough = push_last(&both, r.first, r.last);
    }
    char_set_fini(s);
    *s = both;
    return enough;
}

bool char_set_add(struct char_set *s, uint32_t first, uint32_t last) {
    struct char_range range = {first, last};
    return char_set_unite(s, &(struct char_set){.ranges = &range, .n = 1});
}

bool char_set_invert(struct char_set *s) {
    struct char_set inverse = {0};
    uint32_t next = 0;
    bool enough = char_set_add(s, SURROGATE_FIRST, SURROGATE_LAST);
    for (size_t i = 0; i < s->n && enough; i++) {
        if (s->ranges[i].first > next) enough = push(&inverse, next, s->ranges[i].first - 1);
        next = s->ranges[i].last + 1;
    }
    if (enough && next <= LAST) enough = push(&inverse, next, LAST);
    char_set_fini(s);
    *s = inverse;
    return enough;
}

bool char_set_intersect(struct char_set *s, const struct char_set *other) {
    struct char_set common = {0};
    bool enough = true;
    for (size_t i = 0, k = 0; i < s->n && k < other->n && enough;) {
        struct char_range a = s->ranges[i], b = other->ranges[k];
        uint32_t first = a.first > b.first ? a.first : b.first, last = a.last < b.last ? a.last : b.last;
        if (first <= last) enough = push(&common, first, last);
        if (a.last < b.last) i++;
        else k++;
    }
    char_set_fini(s);
    *s = common;
    return enough;
}

// Adds the code points that have one of the wanted classes, or whose category is one of the wanted bits.
static bool add_where(struct char_set *s, bool categories, uint32_t wanted) {
    struct char_set found = {0};
    bool enough = true;
    for (uint32_t c = 0; c <= LAST && enough; c++) {
        if (c == SURROGATE_FIRST) c = SURROGATE_LAST + 1;
        uint32_t bits = categories ? (uint32_t)1 << unicode_category(c) : unicode_class(c);
        if (bits & wanted) enough = push_last(&found, c, c);
    }
    enough = enough && char_set_unite(s, &found);
    char_set_fini(&found);
    return enough;
}

bool char_set_add_class(struct char_set *s, unsigned classes) { return add_where(s, false, classes); }

static bool is_name(const char *name, size_t n, const char *wanted) {
    return strlen(wanted) == n && memcmp(name, wanted, n) == 0;
}

// The categories that a name stands for, one bit each; 0 when it is none.
static uint32_t categories_of(const char *name, size_t n) {
    uint32_t found = 0;
    if (is_name(name, n, "Any")) return UINT32_MAX;
    for (unsigned i = 0; i < UNICODE_N_CATEGORIES; i++) {
        const char *category = &UNICODE_CATEGORIES[(size_t)2 * i];
        bool cased = category[0] == 'L' && strchr("ult", category[1]);
        bool member = is_name(name, n, "LC") ? cased : n && n <= 2 && memcmp(name, category, n) == 0;
        if (member) found |= (uint32_t)1 << i;
    }
    return found;
}

bool char_set_add_property(struct char_set *s, const char *name, size_t n, bool *known) {
    uint32_t categories = categories_of(name, n);
    *known = true;
    if (categories) return add_where(s, true, categories);
    for (uint32_t i = 0; i < unicode_n_scripts; i++) {
        const struct unicode_script *script = &unicode_scripts[i];
        if (!is_name(name, n, script->name)) continue;
        struct char_set members = {0};
        bool enough = true;
        for (uint32_t k = script->first; k < script->first + script->n && enough; k++)
            enough = push_last(&members, unicode_script_ranges[k][0], unicode_script_ranges[k][1]);
        enough = enough && char_set_unite(s, &members);
        char_set_fini(&members);
        return enough;
    }
    *known = false;
    return true;
}
