// The generated Unicode tables; ask text/unicode.h, which knows how to read them.
#ifndef TF_TEXT_UNICODE_TABLES_H
#define TF_TEXT_UNICODE_TABLES_H

#include <stdint.h>

enum { UNICODE_BLOCKS = 0x110000 / 256 };
// General categories in the order of unicode_category_table's numbers.
#define UNICODE_CATEGORIES                                                                         \
    "CnCcCfCoCsLlLmLoLtLuMcMeMnNdNlNoPcPdPePfPiPoPsScSkSmSoZlZpZs"
enum { UNICODE_N_CATEGORIES = 30 };
enum { UNICODE_NFC_YES, UNICODE_NFC_MAYBE, UNICODE_NFC_NO };

struct unicode_nfc {
    uint8_t combining_class;
    uint8_t quick;          // UNICODE_NFC_*: may the character stand in normalized text
    uint16_t decomposition; // canonical, index into unicode_decompositions; 0 = none
    uint16_t compatible;    // the same of the compatibility decomposition
};

struct unicode_pair {
    uint32_t first, second, composed;
};

struct unicode_lower {
    uint32_t from, to[2]; // to[1] is 0 but for one character
};

struct unicode_script {
    const char *name;
    uint32_t first, n; // its rows of unicode_script_ranges
};

// Two stages each: a block number for every 256 code points, then an entry for each code point of that block.
extern const uint8_t unicode_class_block[UNICODE_BLOCKS];
extern const uint16_t unicode_class_table[][256]; // UNICODE_* class bits; block 0 begins with ASCII
extern const uint8_t unicode_category_block[UNICODE_BLOCKS];
extern const uint8_t unicode_category_table[][256]; // index into the list of UNICODE_CATEGORIES
extern const uint8_t unicode_nfc_block[UNICODE_BLOCKS];
extern const uint16_t unicode_nfc_table[][256]; // index into unicode_nfc_records

extern const struct unicode_nfc unicode_nfc_records[];
extern const uint32_t unicode_decompositions[];   // a length, then that many code points
extern const struct unicode_pair unicode_pairs[]; // sorted by first, then second
extern const uint32_t unicode_n_pairs;
extern const struct unicode_lower unicode_lower[]; // sorted by from
extern const uint32_t unicode_n_lower;
extern const uint32_t unicode_script_ranges[][2]; // first and last, rising within a script
extern const struct unicode_script unicode_scripts[];
extern const uint32_t unicode_n_scripts;

#endif
