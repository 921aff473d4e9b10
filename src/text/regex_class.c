// Character classes of Oniguruma's syntax: escapes, properties, ranges, classes in classes and intersections.
#include "text/regex_class.h"

#include "base/utf8.h"
#include "text/unicode.h"

#include <string.h>

enum { DEPTH_MAX = 16, LAST = 0x10ffff, SHOWN = 200 };

uint32_t regex_peek(const struct regex_reader *r) {
    uint32_t c;
    bool bad;
    if (r->at >= r->n) return UINT32_MAX;
    utf8_next(r->pattern + r->at, r->n - r->at, &c, &bad);
    return c;
}

uint32_t regex_take(struct regex_reader *r) {
    uint32_t c;
    bool bad;
    if (r->at >= r->n) return UINT32_MAX;
    r->at += utf8_next(r->pattern + r->at, r->n - r->at, &c, &bad);
    return c;
}

bool regex_accept(struct regex_reader *r, const char *text) {
    size_t n = strlen(text);
    if (r->n - r->at < n || memcmp(r->pattern + r->at, text, n) != 0) return false;
    r->at += n;
    return true;
}

enum status regex_refuse(struct regex_reader *r, size_t from) {
    size_t n = r->at - from;
    return err_set(r->e, STATUS_UNSUPPORTED, "\"%.*s\" in the regular expression %.*s is not supported",
                   (int)(n < SHOWN ? n : SHOWN), r->pattern + from, (int)(r->n < SHOWN ? r->n : SHOWN), r->pattern);
}

static enum status no_memory(struct regex_reader *r) {
    return err_set(r->e, STATUS_NO_MEMORY, "no memory for a regular expression");
}

static int hex_digit(uint32_t c) {
    if (c >= '0' && c <= '9') return (int)c - '0';
    if (c >= 'a' && c <= 'f') return (int)c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return (int)c - 'A' + 10;
    return -1;
}

// At most `most` hexadecimal digits, at least one; false when there is none or the number is no character.
static bool hex_number(struct regex_reader *r, int most, uint32_t *c) {
    int digits = 0;
    for (*c = 0; digits < most && hex_digit(regex_peek(r)) >= 0; digits++)
        *c = *c * 16 + (uint32_t)hex_digit(regex_take(r));
    return digits > 0 && *c <= LAST && (*c < 0xd800 || *c > 0xdfff);
}

// *c followed a backslash: a letter that stands for one character, or the character itself.
static enum status escaped_char(struct regex_reader *r, size_t from, uint32_t *c) {
    static const char letters[] = "rntfvae", meaning[] = "\r\n\t\f\v\a\x1b";
    uint32_t letter = *c;
    const char *known = letter && letter < 0x80 ? strchr(letters, (int)letter) : NULL;
    bool word = letter < 0x80 && unicode_class(letter) & UNICODE_WORD && letter != '_';
    size_t begin = r->at;
    if (known) {
        *c = (uint8_t)meaning[known - letters];
    } else if (letter == 'u') {
        if (!hex_number(r, 4, c) || r->at - begin != 4) return regex_refuse(r, from);
    } else if (letter == 'x' && regex_accept(r, "{")) {
        if (!hex_number(r, 8, c) || !regex_accept(r, "}")) return regex_refuse(r, from);
    } else if (letter == 'x') { // above 7F it would be a byte of a character
        if (!hex_number(r, 2, c) || r->at - begin != 2 || *c > 0x7f) return regex_refuse(r, from);
    } else if (word || letter == UINT32_MAX) {
        return regex_refuse(r, from);
    }
    return STATUS_OK;
}

// Adds `found`, or what it lacks, to `set`, and empties it.
static bool add_found(struct char_set *set, struct char_set *found, bool invert, bool enough) {
    if (invert) enough = enough && char_set_invert(found);
    enough = enough && char_set_unite(set, found);
    char_set_fini(found);
    return enough;
}

// What is in braces after \p or \P.
static enum status property(struct regex_reader *r, size_t from, struct char_set *set, bool invert) {
    if (!regex_accept(r, "{")) return regex_refuse(r, from);
    if (regex_accept(r, "^")) invert = !invert;
    size_t begin = r->at;
    while (r->at < r->n && r->pattern[r->at] != '}') r->at++;
    size_t n = r->at - begin;
    if (!regex_accept(r, "}")) return regex_refuse(r, from);
    struct char_set found = {0};
    bool known, enough = char_set_add_property(&found, r->pattern + begin, n, &known);
    if (!add_found(set, &found, invert, enough)) return no_memory(r);
    return known ? STATUS_OK : regex_refuse(r, from);
}

bool regex_add_word(struct char_set *set, bool in_brackets) {
    struct char_set no_joiners = {0};
    bool enough = char_set_add_class(set, UNICODE_WORD) && char_set_add(&no_joiners, 0x200c, 0x200d) &&
                  char_set_invert(&no_joiners) && char_set_intersect(set, &no_joiners);
    char_set_fini(&no_joiners);
    if (in_brackets) return enough;
    return enough && char_set_add(set, 0xb2, 0xb3) && char_set_add(set, 0xb9, 0xb9) && char_set_add(set, 0xbc, 0xbe);
}

// \s \d \w \h and the capital letters.
static bool add_letter_class(struct char_set *set, char letter, bool invert, bool in_brackets) {
    struct char_set found = {0};
    bool known, enough = true;
    if (letter == 's') enough = char_set_add_class(&found, UNICODE_SPACE);
    if (letter == 'w') enough = regex_add_word(&found, in_brackets);
    if (letter == 'd') enough = char_set_add_property(&found, "Nd", 2, &known);
    if (letter == 'h')
        enough = char_set_add(&found, '0', '9') && char_set_add(&found, 'a', 'f') && char_set_add(&found, 'A', 'F');
    return add_found(set, &found, invert, enough);
}

enum status regex_escape(struct regex_reader *r, bool in_brackets, struct char_set *set, bool *is_set, uint32_t *c) {
    size_t from = r->at - 1;
    *c = regex_take(r);
    *is_set = *c && *c < 0x80 && strchr("sdwhSDWHpP", (int)*c);
    if (!*is_set) return escaped_char(r, from, c);
    bool capital = *c < 'a';
    char letter = (char)(capital ? *c + ('a' - 'A') : *c);
    if (letter == 'p') return property(r, from, set, capital);
    return add_letter_class(set, letter, capital, in_brackets) ? STATUS_OK : no_memory(r);
}

// [:name:] inside a class; the first bracket was taken.
static enum status posix_class(struct regex_reader *r, struct char_set *set) {
    static const struct {
        const char *text;
        char letter;
    } names[] = {{"digit:]", 'd'}, {"space:]", 's'}, {"word:]", 'w'}, {"xdigit:]", 'h'}};
    size_t from = r->at - 1;
    bool invert = regex_accept(r, ":^");
    if (!invert) regex_take(r);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (regex_accept(r, names[i].text))
            return add_letter_class(set, names[i].letter, invert, true) ? STATUS_OK : no_memory(r);
    return regex_refuse(r, from);
}

// One character of a class, and the range that it may begin.
static enum status class_range(struct regex_reader *r, struct char_set *set, uint32_t first) {
    size_t from = r->at;
    uint32_t last = first;
    bool range = r->at + 1 < r->n && r->pattern[r->at] == '-' && r->pattern[r->at + 1] != ']';
    if (range) {
        struct char_set none = {0};
        bool is_set = false;
        r->at++;
        last = regex_take(r);
        enum status status = STATUS_OK;
        if (last == '\\') status = regex_escape(r, true, &none, &is_set, &last);
        char_set_fini(&none);
        TRY(status);
        if (is_set || last == '[' || last < first) return regex_refuse(r, from);
    }
    return char_set_add(set, first, last) ? STATUS_OK : no_memory(r);
}

static enum status class_item(struct regex_reader *r, struct char_set *set, int depth) {
    uint32_t c = regex_take(r);
    bool is_set = false;
    if (c == '[' && regex_peek(r) == ':') return posix_class(r, set);
    if (c == '[') {
        struct char_set inner = {0};
        enum status status = regex_class(r, &inner, depth + 1);
        if (status == STATUS_OK && !char_set_unite(set, &inner)) status = no_memory(r);
        char_set_fini(&inner);
        return status;
    }
    if (c == '\\' && regex_accept(r, "b")) c = '\b'; // a border elsewhere
    else if (c == '\\') TRY(regex_escape(r, true, set, &is_set, &c));
    return is_set ? STATUS_OK : class_range(r, set, c);
}

// The members between brackets; of parts with && between them, what all have.
static enum status class_items(struct regex_reader *r, struct char_set *set, int depth) {
    struct char_set left = {0};
    bool has_left = false, enough = true;
    size_t from = r->at - 1;
    enum status status = STATUS_OK;
    if (regex_peek(r) == ']') return regex_refuse(r, from);
    while (status == STATUS_OK && enough && regex_peek(r) != ']') {
        if (r->at >= r->n) {
            status = regex_refuse(r, from);
        } else if (regex_accept(r, "&&")) {
            if (has_left) enough = char_set_intersect(set, &left);
            char_set_fini(&left);
            left = *set;
            *set = (struct char_set){0};
            has_left = true;
        } else {
            status = class_item(r, set, depth);
        }
    }
    if (has_left) enough = enough && char_set_intersect(set, &left);
    char_set_fini(&left);
    return status == STATUS_OK && !enough ? no_memory(r) : status;
}

enum status regex_class(struct regex_reader *r, struct char_set *set, int depth) {
    if (depth > DEPTH_MAX) return regex_refuse(r, r->at);
    bool invert = regex_accept(r, "^");
    TRY(class_items(r, set, depth));
    regex_take(r); // the closing bracket
    return invert && !char_set_invert(set) ? no_memory(r) : STATUS_OK;
}
