// What Python's str knows about characters: case, letters, digits, printable ones.
#ifndef TF_TEXT_JINJA_UNICODE_H
#define TF_TEXT_JINJA_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Tables, rising; see jinja_unicode_ranges.c and jinja_unicode_case.c.
struct jinja_range {
    uint32_t first, last;
};
struct jinja_case_run { // every `stride`-th code point of first .. last becomes itself + delta
    uint32_t first, last, stride;
    int32_t delta;
};
struct jinja_case_long { // one code point that becomes two or three
    uint32_t from, first, second, third; // third may be 0
};

#define JINJA_RANGE_TABLE(name)                                                                    \
    extern const struct jinja_range name[];                                                        \
    extern const size_t name##_n;
#define JINJA_CASE_TABLE(name)                                                                     \
    extern const struct jinja_case_run name[];                                                     \
    extern const size_t name##_n;                                                                  \
    extern const struct jinja_case_long name##_long[];                                             \
    extern const size_t name##_long_n;

JINJA_RANGE_TABLE(jinja_unprintable)
JINJA_RANGE_TABLE(jinja_alpha)
JINJA_RANGE_TABLE(jinja_decimal)
JINJA_RANGE_TABLE(jinja_digit)   // digits that are not decimal
JINJA_RANGE_TABLE(jinja_numeric) // numbers that are not digits
JINJA_RANGE_TABLE(jinja_lowercase)
JINJA_RANGE_TABLE(jinja_uppercase)
JINJA_RANGE_TABLE(jinja_titlecase)
JINJA_RANGE_TABLE(jinja_case_ignorable)
JINJA_CASE_TABLE(jinja_to_upper)
JINJA_CASE_TABLE(jinja_to_lower)
JINJA_CASE_TABLE(jinja_to_title)

#define JINJA_IN(table, code_point) jinja_in_ranges(table, table##_n, code_point)
bool jinja_in_ranges(const struct jinja_range *table, size_t n, uint32_t code_point);

enum jinja_case { JINJA_CASE_UPPER, JINJA_CASE_LOWER, JINJA_CASE_TITLE };

// Writes what one code point becomes and returns how many code points that are, 1 to 3.
size_t jinja_change_case(enum jinja_case to, uint32_t code_point, uint32_t out[3]);

bool jinja_is_cased(uint32_t code_point);

struct jinja_sink;
struct jinja_string;

// Python's str.upper, lower, title and capitalize; the result is marked as a whole where the string has marks.
void jinja_text_upper(struct jinja_sink *k, const struct jinja_string *s);
void jinja_text_lower(struct jinja_sink *k, const struct jinja_string *s);
void jinja_text_title(struct jinja_sink *k, const struct jinja_string *s);
void jinja_text_capitalize(struct jinja_sink *k, const struct jinja_string *s);

// Python's isupper and islower: at least one cased letter, and all of them in that case.
bool jinja_text_is_case(const struct jinja_string *s, bool upper);

#endif
