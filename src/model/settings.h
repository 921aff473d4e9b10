// From a checkpoint's settings to an arch: which family it is, its geometry, its rope and what it has biases on.
#ifndef TF_MODEL_SETTINGS_H
#define TF_MODEL_SETTINGS_H

#include "checkpoint/checkpoint.h"
#include "model/arch.h"

// Detects the family and reads its settings. A setting that is missing, out of range or not served is refused with its
// file and key.
enum status settings_read(const struct checkpoint *c, struct arch *out, struct err *e) TF_MUST_CHECK;

// What the settings alone say: names are left open, and `tied` is what they ask for, whatever is stored.
enum status settings_parse(const struct config *config, struct arch *out, struct err *e) TF_MUST_CHECK;

#endif
