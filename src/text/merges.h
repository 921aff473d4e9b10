// Merges for vocabularies that come with scores instead (SentencePiece's BPE).
#ifndef TF_TEXT_MERGES_H
#define TF_TEXT_MERGES_H

#include "base/arena.h"
#include "text/tokenizer.h"

// Gives `s`, whose tokens are set, the merges that Hugging Face's converter derives: every way to cut a token in two
// tokens, by falling score of the whole, then by falling length of the left and the right part, then by id. What it
// makes lives in `a`.
enum status merges_from_scores(const double *scores, struct arena *a, struct tokenizer_source *s,
                               struct err *e) TF_MUST_CHECK;

#endif
