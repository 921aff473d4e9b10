// A strict stand-in for a model: each drawn token depends on the whole history that it was really fed.
// So any fault in rounds, keeping or rolling back changes tokens; every broken rule of the round seam is reported.
#ifndef TF_TESTS_SUPPORT_FAKE_MODEL_H
#define TF_TESTS_SUPPORT_FAKE_MODEL_H

#include "model/model.h"

struct fake_options {
    struct model_geometry geometry;
    uint64_t fail_round; // this round (from 1) fails in verify; 0 = none
};

// Opens one; NULL when there is no memory. Close it through its ops.
struct model *fake_model_new(const struct fake_options *options);

// The first broken rule, or NULL. Owned by the model.
const char *fake_model_fault(const struct model *m);
uint64_t fake_model_rounds(const struct model *m);

// The token an honest model draws after tokens[0..n) under a rule: what every reply is compared with.
int32_t fake_model_next(const struct draw_rule *rule, uint32_t vocab, const int32_t *tokens, size_t n);

#endif
