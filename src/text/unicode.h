// What a character is: the classes that pre-tokenizers and added tokens ask for, one table look-up each.
#ifndef TF_TEXT_UNICODE_H
#define TF_TEXT_UNICODE_H

#include "base/utf8.h"
#include "text/unicode_tables.h"

#include <stddef.h>
#include <stdint.h>

enum unicode_class {
    UNICODE_LETTER = 1,  // \p{L}
    UNICODE_MARK = 2,    // \p{M}
    UNICODE_NUMBER = 4,  // \p{N}
    UNICODE_SPACE = 8,   // \s: White_Space
    UNICODE_OTHER = 16,  // [^\s\p{L}\p{N}]
    UNICODE_WORD = 32,   // \w
    UNICODE_DIGIT = 64,  // what the Digits pre-tokenizer cuts out: \p{N} of a later Unicode
    UNICODE_NO_DIGIT = 128,
    UNICODE_UPPER = 256,      // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
    UNICODE_LOWER = 512,      // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
    UNICODE_PUNCTUATION = 1024, // \p{P}
    UNICODE_SYMBOL = 2048,      // \p{S}
    UNICODE_PUNCTUATION_MARK = 4096, // what the Punctuation and Bert pre-tokenizers cut out
    UNICODE_ACCENT = 8192,           // what the StripAccents normalizer removes
    UNICODE_BERT_ACCENT = 16384,     // what the Bert normalizer removes with strip_accents
    UNICODE_BERT_CONTROL = 32768,    // and with clean_text
};

static inline unsigned unicode_class(uint32_t code_point) {
    return unicode_class_table[unicode_class_block[code_point >> 8]][code_point & 255];
}

// Class of the character at text[0..n), n >= 1, valid UTF-8; *length becomes its bytes.
static inline unsigned unicode_class_at(const char *text, size_t n, size_t *length) {
    uint8_t first = (uint8_t)text[0];
    if (first < 0x80) {
        *length = 1;
        return unicode_class_table[0][first];
    }
    uint32_t code_point;
    bool bad;
    *length = utf8_next(text, n, &code_point, &bad);
    return unicode_class(code_point);
}

// Bytes of the longest prefix of text[0..n) whose characters all have one of the classes in `mask`.
static inline size_t unicode_run(const char *text, size_t n, unsigned mask) {
    size_t at = 0, length;
    while (at < n && unicode_class_at(text + at, n - at, &length) & mask) at += length;
    return at;
}

// Class of the last character of text[0..n), n >= 1, valid UTF-8; *length becomes its bytes.
static inline unsigned unicode_class_before(const char *text, size_t n, size_t *length) {
    size_t at = n - 1;
    while (at > 0 && ((uint8_t)text[at] & 0xc0) == 0x80) at--;
    return unicode_class_at(text + at, n - at, length);
}

// Index of the general category in UNICODE_CATEGORIES.
static inline unsigned unicode_category(uint32_t code_point) {
    return unicode_category_table[unicode_category_block[code_point >> 8]][code_point & 255];
}

static inline const struct unicode_nfc *unicode_nfc(uint32_t code_point) {
    return &unicode_nfc_records[unicode_nfc_table[unicode_nfc_block[code_point >> 8]][code_point & 255]];
}

#endif
