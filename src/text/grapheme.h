// Grapheme clusters as far as character maps need them: a character with the marks that follow it.
#ifndef TF_TEXT_GRAPHEME_H
#define TF_TEXT_GRAPHEME_H

#include <stddef.h>

// Bytes of the cluster at text[0..n), n >= 1, valid UTF-8. Clusters of at most five bytes, the ones that character maps
// look up whole, end where Unicode's rules end them; longer ones (syllables, flags, families) may end earlier.
size_t grapheme_length(const char *text, size_t n);

#endif
