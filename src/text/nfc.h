// Normalization Form C (Unicode Standard Annex 15), over the same data as Hugging Face's `tokenizers`.
#ifndef TF_TEXT_NFC_H
#define TF_TEXT_NFC_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

// True when text[0..n), valid UTF-8, is certainly normalized already: the answer for nearly all real text.
bool nfc_quick_check(const char *text, size_t n);

// Appends the normalized form of text[0..n), valid UTF-8, to `out`. Time is linear in n.
enum status nfc_append(const char *text, size_t n, struct buf *out, struct err *e) TF_MUST_CHECK;

#endif
