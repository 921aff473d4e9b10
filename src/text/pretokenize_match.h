// The patterns of published pre-tokenizers, each as one hand-written match at the start of a text.
#ifndef TF_TEXT_PRETOKENIZE_MATCH_H
#define TF_TEXT_PRETOKENIZE_MATCH_H

#include <stddef.h>

// Each takes s[0..n), n >= 1, valid UTF-8, and gives the bytes of the pattern's match at s, 0 when there is none.
// The patterns stand in pretokenize.c. What looks ahead sees no further than n.

size_t pretokenize_match_gpt2(const char *s, size_t n); // matches everywhere
size_t pretokenize_match_llama3(const char *s, size_t n);
size_t pretokenize_match_qwen2(const char *s, size_t n);
size_t pretokenize_match_qwen35(const char *s, size_t n); // marks belong to words
size_t pretokenize_match_o200k(const char *s, size_t n);  // words end where lower case turns upper, with contractions
size_t pretokenize_match_tekken(const char *s, size_t n); // the same without contractions

size_t pretokenize_match_digit(const char *s, size_t n); // one character that Digits cuts out

// Steps of the DeepSeek chains.
size_t pretokenize_match_three_numbers(const char *s, size_t n); // at most three of \p{N}
size_t pretokenize_match_han_kana(const char *s, size_t n);
size_t pretokenize_match_deepseek3(const char *s, size_t n);
size_t pretokenize_match_newline(const char *s, size_t n);       // one
size_t pretokenize_match_letters(const char *s, size_t n);       // \s?\p{L}+
size_t pretokenize_match_punctuation(const char *s, size_t n);   // \s?\p{P}+
size_t pretokenize_match_wide(const char *s, size_t n);          // ranges with Han and Hangul, and much between
size_t pretokenize_match_alphabets(const char *s, size_t n);     // \s? and letters of Latin, Greek, Cyrillic, ...
size_t pretokenize_match_marks(const char *s, size_t n);         // \s? and punctuation of Latin and Chinese text
size_t pretokenize_match_spaces_at_end(const char *s, size_t n); // \s+$ in a text without line ends

#endif
