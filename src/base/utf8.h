// UTF-8: decoding one code point at a time, with the Unicode rule for broken input (one U+FFFD per maximal bad part).
#ifndef TF_BASE_UTF8_H
#define TF_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Decodes the code point at text[0..n), n >= 1. Returns its length in bytes (1..4). Where the bytes are broken it
// gives U+FFFD and the length of the maximal part that could have begun a character (at least 1), and sets *bad.
size_t utf8_next(const char *text, size_t n, uint32_t *code_point, bool *bad);

// Writes one code point (at most U+10FFFF, no surrogate) and returns its length, 1..4.
size_t utf8_put(uint32_t code_point, char out[4]);

// Length of the longest prefix that holds only whole characters or parts that can never become one; the rest
// (at most 3 bytes) could still be completed by more bytes.
size_t utf8_whole_prefix(const char *text, size_t n);

bool utf8_valid(const char *text, size_t n);

// Appends text[0..n) with U+FFFD for every bad part.
struct buf;
void utf8_append_lossy(struct buf *out, const char *text, size_t n);

#endif
