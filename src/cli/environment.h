// The only place that reads the environment: where this user's files lie, and what day it is.
#ifndef TF_CLI_ENVIRONMENT_H
#define TF_CLI_ENVIRONMENT_H

#include "base/buf.h"
#include "base/err.h"

// Appends to `out` the path of `name` inside the cache folder: $XDG_CACHE_HOME/tensorfold (when that is an absolute
// path, as the XDG rules demand), else ~/.cache/tensorfold.
enum status environment_cache_path(const char *name, struct buf *out, struct err *e) TF_MUST_CHECK;

// Makes the folders on the way to `path` that are not there yet, for this user alone. A failure shows when the file is
// written. `path` is as it was when this returns.
void environment_make_folders(char *path);

// The default model's place inside the cache folder.
#define ENVIRONMENT_DEFAULT_MODEL "models/SmolLM2-135M-Instruct.Q4_1.gguf"

// Today's date here, as "YYYY-MM-DD".
enum { ENVIRONMENT_DATE_BYTES = 32 };
void environment_today(char out[ENVIRONMENT_DATE_BYTES]);

#endif
