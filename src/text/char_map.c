// Character maps as `tokenizers` reads them: look-ups of grapheme clusters of up to five bytes, then of characters.
#include "text/char_map.h"

#include "base/utf8.h"
#include "text/grapheme.h"

#include <string.h>

enum { WHOLE_MAX = 5 }; // bytes of a cluster that is looked up as a whole

static uint32_t read_u32(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

enum status char_map_init(struct char_map *m, const char *bytes, size_t n, struct err *e) {
    const unsigned char *at = (const unsigned char *)bytes;
    size_t trie = n < 4 ? SIZE_MAX : read_u32(at);
    if (trie > n - 4 || trie % 4 || trie == 0)
        return err_set(e, STATUS_INVALID, "the precompiled character map of %zu bytes is damaged", n);
    *m = (struct char_map){
        .trie = at + 4, .n_units = trie / 4, .texts = bytes + 4 + trie, .n_texts = n - 4 - trie};
    return STATUS_OK;
}

// Fields of a unit of the double array.
static uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & 512) >> 6); }
static uint32_t label_of(uint32_t unit) { return unit & 0x800000ffu; }
static bool has_leaf(uint32_t unit) { return unit >> 8 & 1; }
static uint32_t value_of(uint32_t unit) { return unit & 0x7fffffffu; }

// What replaces text[0..n), or NULL. Of texts in the map that it begins with the shortest counts, as in `tokenizers`.
static const char *find(const struct char_map *m, const char *text, size_t n, size_t *length) {
    size_t at = 0;
    uint32_t unit = read_u32(m->trie);
    at ^= offset_of(unit);
    for (size_t i = 0; i < n; i++) {
        uint32_t c = (uint8_t)text[i];
        if (c == 0) return NULL;
        at ^= c;
        if (at >= m->n_units) return NULL;
        unit = read_u32(m->trie + 4 * at);
        if (label_of(unit) != c) return NULL;
        at ^= offset_of(unit);
        if (!has_leaf(unit)) continue;
        size_t value = at < m->n_units ? value_of(read_u32(m->trie + 4 * at)) : m->n_texts;
        if (value >= m->n_texts) return NULL;
        *length = strnlen(m->texts + value, m->n_texts - value);
        return m->texts + value;
    }
    return NULL;
}

void char_map_append(const struct char_map *m, const char *text, size_t n, struct buf *out) {
    for (size_t at = 0, cluster, length; at < n; at += cluster) {
        cluster = grapheme_length(text + at, n - at);
        const char *found = cluster <= WHOLE_MAX ? find(m, text + at, cluster, &length) : NULL;
        if (found) {
            buf_append(out, found, length);
            continue;
        }
        for (size_t i = 0, c_n; i < cluster; i += c_n) {
            uint32_t c;
            bool bad;
            c_n = utf8_next(text + at + i, cluster - i, &c, &bad);
            found = find(m, text + at + i, c_n, &length);
            if (found) buf_append(out, found, length);
            else buf_append(out, text + at + i, c_n);
        }
    }
}
