// Strings of the template language: building them with their marks, cutting, searching, splitting as Python's str does.
#ifndef TF_TEXT_JINJA_TEXT_H
#define TF_TEXT_JINJA_TEXT_H

#include "text/jinja_value.h"

// Collects text and the spans of it that are data. Memory comes from the arena; a failure is remembered until
// jinja_sink_string asks for it.
struct jinja_sink {
    struct arena *arena;
    size_t limit; // most bytes of text
    char *text;
    size_t n, cap;
    struct jinja_span *marks;
    size_t n_marks, cap_marks;
    enum status failed;
};

void jinja_sink_init(struct jinja_sink *k, struct arena *a, size_t limit);
void jinja_sink_add(struct jinja_sink *k, const char *text, size_t n, bool marked);
void jinja_sink_plain(struct jinja_sink *k, const char *text); // terminated, not marked
void jinja_sink_string(struct jinja_sink *k, const struct jinja_string *s);
void jinja_sink_code_point(struct jinja_sink *k, uint32_t code_point, bool marked);
// Marks all the text collected so far.
void jinja_sink_mark_all(struct jinja_sink *k);
// What was collected, as a value that shares the sink's memory. The sink is spent.
enum status jinja_sink_end(struct jinja_sink *k, struct jinja_value *out) TF_MUST_CHECK;

// Lengths and positions are in code points, offsets in bytes.
size_t jinja_text_length(const struct jinja_string *s);
// Offset of code point `position` (at most the length) counted from offset `from`.
size_t jinja_text_offset(const struct jinja_string *s, size_t from, size_t position);
// Offset of the first `needle` at or after `from`, or SIZE_MAX.
size_t jinja_text_find(const struct jinja_string *s, size_t from, const struct jinja_string *needle);
size_t jinja_text_find_last(const struct jinja_string *s, size_t end, const struct jinja_string *needle);
int jinja_text_compare(const struct jinja_string *a, const struct jinja_string *b); // order of code points

// Bytes [begin, end) as a string of their own, marks kept; shares the text.
enum status jinja_text_cut(struct arena *a, const struct jinja_string *s, size_t begin, size_t end,
                           struct jinja_value *out) TF_MUST_CHECK;
enum status jinja_text_join(struct arena *a, const struct jinja_string *left, const struct jinja_string *right,
                            size_t limit, struct jinja_value *out) TF_MUST_CHECK;

enum jinja_side { JINJA_SIDE_LEFT = 1, JINJA_SIDE_RIGHT = 2, JINJA_SIDE_BOTH = 3 };

// Python's strip: of white space where `chars` is NULL, else of any of its code points.
enum status jinja_text_strip(struct arena *a, const struct jinja_string *s, const struct jinja_string *chars,
                             enum jinja_side side, struct jinja_value *out) TF_MUST_CHECK;

struct jinja_split {
    const struct jinja_string *separator; // NULL: runs of white space
    int64_t most;                         // splits at most, negative = no limit
    bool from_right;
};
// Python's split and rsplit, as a list of strings. An empty separator is the caller's to refuse.
enum status jinja_text_split(struct arena *a, const struct jinja_string *s, const struct jinja_split *how,
                             struct jinja_list **out) TF_MUST_CHECK;
// Python's splitlines.
enum status jinja_text_lines(struct arena *a, const struct jinja_string *s, bool keep_ends,
                             struct jinja_list **out) TF_MUST_CHECK;
// Python's replace; `most` negative = all.
enum status jinja_text_replace(struct jinja_sink *k, const struct jinja_string *s, const struct jinja_string *old,
                               const struct jinja_string *new_text, int64_t most) TF_MUST_CHECK;

// Python's str.isspace for one code point.
bool jinja_is_space(uint32_t code_point);

// White space in front of and behind: the first offset that is not, and the end of the last that is not.
size_t jinja_skip_space(const char *text, size_t n);
size_t jinja_trim_space(const char *text, size_t n);

// & < > ' " as entities.
void jinja_text_escape(struct jinja_sink *k, const struct jinja_string *s);

#endif
