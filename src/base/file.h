// Files mapped read-only, safe against being cut short while mapped, and whole small files read into memory.
#ifndef TF_BASE_FILE_H
#define TF_BASE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_map; // opaque; see file.c for its states

// Maps a regular file read-only. The message names the path.
enum status file_map_open(const char *path, struct file_map **out, struct err *e) TF_MUST_CHECK;
void file_map_close(struct file_map *m);

const uint8_t *file_map_data(const struct file_map *m); // NULL for an empty file
size_t file_map_bytes(const struct file_map *m);
const char *file_map_path(const struct file_map *m);

// True once a page of the mapping could not be read (the file shrank, or the disk failed). Such a page reads
// as zeros instead of ending the process; who reads weights asks this after reading and fails the load.
bool file_map_damaged(const struct file_map *m);

// The bytes [offset, offset + n) will not be read again soon: their pages need not stay resident.
void file_map_release(const struct file_map *m, size_t offset, size_t n);

// Reads a whole file of at most `limit` bytes into a fresh buffer with one zero byte after it; mem_free it.
enum status file_read(const char *path, size_t limit, char **data, size_t *n, struct err *e) TF_MUST_CHECK;

bool file_exists(const char *path); // a regular file, links followed
bool file_is_folder(const char *path);

#endif
