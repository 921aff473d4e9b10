// Moving a bound checkpoint's weights onto the backend.
#ifndef TF_MODEL_WEIGHTS_H
#define TF_MODEL_WEIGHTS_H

#include "model/loaded.h"

// Packs every linear, converts every vector, and releases each tensor's source pages once it is read. The model's plan,
// regions and weight array exist already.
enum status weights_load(struct loaded *m, const struct checkpoint *c, const struct binding *binding,
                         struct err *e) TF_MUST_CHECK;

// All values of a stored F32, F16 or BF16 tensor as floats, in their order.
void weights_read_vector(const struct tensor *t, float *out);

#endif
