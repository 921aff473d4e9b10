// Which model a command works on: the one that is named, else the default one in the cache folder.
#ifndef TF_CLI_DEFAULT_MODEL_H
#define TF_CLI_DEFAULT_MODEL_H

#include "base/buf.h"
#include "base/err.h"

// Appends its path. `named` may be NULL; a default model that is not there yet is refused with how to get it, and
// a named one that is not there.
enum status default_model_find(const char *named, struct buf *path, struct err *e) TF_MUST_CHECK;

#endif
