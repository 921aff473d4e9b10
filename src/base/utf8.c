// UTF-8 after table 3-7 of the Unicode Standard: which bytes may follow which, and what to do where they do not.
#include "base/utf8.h"

#include "base/buf.h"

#include <string.h>

static const uint32_t REPLACEMENT = 0xfffd;

// Bytes of the character that this byte begins; 0 when no character begins with it.
static size_t length_by_lead(uint8_t lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xc2) return 0; // a continuation, or an overlong form
    if (lead < 0xe0) return 2;
    if (lead < 0xf0) return 3;
    return lead < 0xf5 ? 4 : 0;
}

// The second byte is where overlong forms, surrogates and code points past U+10FFFF are ruled out.
static bool may_be_second(uint8_t lead, uint8_t second) {
    switch (lead) {
    case 0xe0: return second >= 0xa0 && second <= 0xbf;
    case 0xed: return second >= 0x80 && second <= 0x9f;
    case 0xf0: return second >= 0x90 && second <= 0xbf;
    case 0xf4: return second >= 0x80 && second <= 0x8f;
    default: return second >= 0x80 && second <= 0xbf;
    }
}

// Length of the longest part of s[0..n) that a well-formed character could begin with; `need` is how long that
// character would be. Both 0 when the first byte begins none.
static size_t begun_part(const uint8_t *s, size_t n, size_t *need) {
    *need = length_by_lead(s[0]);
    if (*need == 0) return 0;
    size_t have = 1;
    while (have < *need && have < n) {
        bool fits = have == 1 ? may_be_second(s[0], s[1]) : (s[have] & 0xc0) == 0x80;
        if (!fits) break;
        have++;
    }
    return have;
}

size_t utf8_next(const char *text, size_t n, uint32_t *code_point, bool *bad) {
    const uint8_t *s = (const uint8_t *)text;
    size_t need, have = begun_part(s, n, &need);
    *bad = have == 0 || have < need;
    if (*bad) {
        *code_point = REPLACEMENT;
        return have ? have : 1;
    }
    uint32_t c = need == 1 ? s[0] : s[0] & (0x7fu >> need);
    for (size_t i = 1; i < need; i++) c = c << 6 | (s[i] & 0x3fu);
    *code_point = c;
    return need;
}

size_t utf8_put(uint32_t code_point, char out[4]) {
    uint32_t c = code_point;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00u >> n & 0xf0) | c);
    return n;
}

size_t utf8_whole_prefix(const char *text, size_t n) {
    const uint8_t *s = (const uint8_t *)text;
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const uint8_t *at = s + n - back;
        if ((*at & 0xc0) == 0x80) continue; // only a lead byte opens a character
        size_t need, have = begun_part(at, back, &need);
        return have == back && have < need ? n - back : n;
    }
    return n;
}

// Bytes of the longest valid prefix; ASCII goes eight bytes a step.
static size_t valid_prefix(const char *text, size_t n) {
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        if (n - i >= sizeof word) {
            memcpy(&word, text + i, sizeof word);
            if (!(word & 0x8080808080808080u)) {
                i += sizeof word;
                continue;
            }
        }
        uint32_t c;
        bool bad;
        size_t length = utf8_next(text + i, n - i, &c, &bad);
        if (bad) return i;
        i += length;
    }
    return n;
}

bool utf8_valid(const char *text, size_t n) { return valid_prefix(text, n) == n; }

void utf8_append_lossy(struct buf *out, const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t valid = valid_prefix(text + i, n - i);
        buf_append(out, text + i, valid);
        i += valid;
        if (i == n) break;
        uint32_t c;
        bool bad;
        i += utf8_next(text + i, n - i, &c, &bad);
        buf_append(out, "\xef\xbf\xbd", 3);
    }
}
