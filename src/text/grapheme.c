// Borders of grapheme clusters out of general categories and the few exceptions to them.
#include "text/grapheme.h"

#include "text/unicode.h"

#include <stdbool.h>
#include <string.h>

static bool in_ranges(uint32_t c, const uint32_t ranges[][2], size_t n) {
    for (size_t i = 0; i < n; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

#define IN_RANGES(c, ranges) in_ranges(c, ranges, sizeof(ranges) / sizeof(ranges)[0])

static bool is_tag(uint32_t c) { return c >= 0xe0020 && c <= 0xe007f; }
static bool is_joiner(uint32_t c) { return c == 0x200c || c == 0x200d; }

// Extend, ZWJ or SpacingMark: stays with what is before it.
static bool follows(uint32_t c) {
    static const uint32_t apart[][2] = {{0x102b, 0x102c}, {0x1038, 0x1038}, {0x1062, 0x1064}, {0x1067, 0x106d},
                                        {0x1083, 0x1083}, {0x1087, 0x108c}, {0x108f, 0x108f}, {0x109a, 0x109c},
                                        {0x1a61, 0x1a61}, {0x1a63, 0x1a64}, {0xaa7b, 0xaa7b}, {0xaa7d, 0xaa7d},
                                        {0x11720, 0x11721}};
    static const uint32_t more[][2] = { // two of them marks since Unicode 17
        {0x0e33, 0x0e33}, {0x0eb3, 0x0eb3}, {0x1acf, 0x1add}, {0x1ae0, 0x1aeb},
        {0x200c, 0x200d}, {0xff9e, 0xff9f}, {0x1f3fb, 0x1f3ff}};
    if (unicode_class(c) & UNICODE_MARK) return !IN_RANGES(c, apart);
    return is_tag(c) || IN_RANGES(c, more);
}

static bool is_control(uint32_t c) {
    static const char controls[] = "CcCfZlZp";
    if (is_tag(c) || is_joiner(c)) return false;
    for (size_t i = 0; i < sizeof controls - 1; i += 2)
        if (memcmp(&UNICODE_CATEGORIES[(size_t)2 * unicode_category(c)], &controls[i], 2) == 0) return true;
    return false;
}

size_t grapheme_length(const char *text, size_t n) {
    uint32_t c;
    bool bad;
    size_t at = utf8_next(text, n, &c, &bad);
    if (c == '\r' && n > 1 && text[1] == '\n') return 2;
    if (is_control(c)) return at;
    for (size_t length; at < n; at += length) {
        length = utf8_next(text + at, n - at, &c, &bad);
        if (!follows(c)) break;
    }
    return at;
}
