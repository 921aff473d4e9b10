// The precompiled character maps of SentencePiece: a trie of texts, each with what replaces it.
#ifndef TF_TEXT_CHAR_MAP_H
#define TF_TEXT_CHAR_MAP_H

#include "base/buf.h"

#include <stdint.h>

struct char_map {
    const unsigned char *trie; // a double array of little-endian 32-bit units; borrowed
    size_t n_units;
    const char *texts; // zero bytes between them; borrowed
    size_t n_texts;
};

// Reads a map of n bytes, which has to outlive it; a map whose sizes do not agree is refused.
enum status char_map_init(struct char_map *m, const char *bytes, size_t n, struct err *e) TF_MUST_CHECK;

// Appends text[0..n) (valid UTF-8) with every character replaced that the map knows; a character with its marks is
// looked up as a whole first, if it is short.
void char_map_append(const struct char_map *m, const char *text, size_t n, struct buf *out);

#endif
