// A published checkpoint as typed, validated, read-only views: tensors by name, settings by key.
#ifndef TF_CHECKPOINT_CHECKPOINT_H
#define TF_CHECKPOINT_CHECKPOINT_H

#include "base/dtype.h"
#include "base/err.h"
#include "checkpoint/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENSOR_DIMS_MAX = 8 }; // vision towers store up to 5

enum checkpoint_kind { CHECKPOINT_SAFETENSORS, CHECKPOINT_GGUF };

// One stored tensor. Everything here stays valid until checkpoint_close.
struct tensor {
    const char *name;
    enum dtype dtype;
    uint32_t n_dims;
    uint64_t shape[TENSOR_DIMS_MAX]; // outermost first (a linear is [out, in]), GGUF's order turned round
    const uint8_t *data;             // mapped bytes; may be misaligned for the dtype: read it bytewise or copy
    uint64_t bytes;
    uint32_t file; // index for checkpoint_file_name
};

struct checkpoint;

// Opens MODEL: a folder with config.json and model.safetensors or its index, or one .gguf file. Reads and checks
// headers only, all of them: sizes, offsets, shapes against dtypes, overlaps, duplicates, index against shards.
// A fault is named with its file and its tensor or key. Weights are not read.
enum status checkpoint_open(const char *path, struct checkpoint **out, struct err *e) TF_MUST_CHECK;

void checkpoint_close(struct checkpoint *c);

enum checkpoint_kind checkpoint_kind(const struct checkpoint *c);
const char *checkpoint_path(const struct checkpoint *c); // as it was given

size_t checkpoint_n_tensors(const struct checkpoint *c);
const struct tensor *checkpoint_tensor(const struct checkpoint *c, size_t i);       // in name order
const struct tensor *checkpoint_find(const struct checkpoint *c, const char *name); // NULL when absent
const char *checkpoint_file_name(const struct checkpoint *c, uint32_t file);

// config.json, or the metadata of the GGUF file.
const struct config *checkpoint_config(const struct checkpoint *c);
// generation_config.json; NULL when there is none (always for GGUF).
const struct config *checkpoint_generation_config(const struct checkpoint *c);

// The tensor's bytes were read and will not be read again: lets the system drop its pages.
void checkpoint_release(const struct checkpoint *c, const struct tensor *t);

// STATUS_IO naming the file when a page of it could not be read since it was opened (cut short, disk fault).
enum status checkpoint_check_read(const struct checkpoint *c, const struct tensor *t, struct err *e) TF_MUST_CHECK;

#endif
