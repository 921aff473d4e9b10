// model.safetensors.index.json: which shard files a checkpoint has and which tensor lies in which.
#ifndef TF_CHECKPOINT_SHARDS_H
#define TF_CHECKPOINT_SHARDS_H

#include "checkpoint/tensors.h"

enum { SHARDS_MAX = 2048, INDEX_BYTES_MAX = 100000000 };

struct shard_index;

// Reads the index at `path`, a file of `folder`. Every shard must be a plain file name in that folder; a link may lead
// only to the folder itself or, where the folder is a snapshot of a Hugging Face cache, to that cache's blobs.
enum status shard_index_read(const char *folder, const char *path, struct shard_index **out,
                             struct err *e) TF_MUST_CHECK;
void shard_index_free(struct shard_index *s);

size_t shard_index_n_files(const struct shard_index *s);
const char *shard_index_file(const struct shard_index *s, size_t i); // path; shards in the order of their names

// Checks the tensors of all shards (file index = shard index, sorted by name) against the index, both ways.
enum status shard_index_check(const struct shard_index *s, const struct tensor_list *l, struct err *e) TF_MUST_CHECK;

#endif
