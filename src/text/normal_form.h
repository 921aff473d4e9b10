// Unicode's normalization forms, as `tokenizers` has them: their characters are those of Unicode 9.
#ifndef TF_TEXT_NORMAL_FORM_H
#define TF_TEXT_NORMAL_FORM_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum normal_form { NORMAL_FORM_C, NORMAL_FORM_D, NORMAL_FORM_KC, NORMAL_FORM_KD };

// True when text[0..n) (valid UTF-8) is certainly in the form already; false says nothing.
bool normal_form_quick_check(enum normal_form form, const char *text, size_t n);

// Appends text[0..n) (valid UTF-8) in the form. Linear but for the search in runs of marks.
enum status normal_form_append(enum normal_form form, const char *text, size_t n, struct buf *out,
                               struct err *e) TF_MUST_CHECK;

#endif
