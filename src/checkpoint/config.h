// Settings of a checkpoint by key, from config.json or from GGUF metadata, with typed getters that name file and key.
#ifndef TF_CHECKPOINT_CONFIG_H
#define TF_CHECKPOINT_CONFIG_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config; // owned by its checkpoint, or by config_read's caller

// Keys: in a JSON file a dot steps into an object ("rope_parameters.rope_theta"); in GGUF the key is taken whole
// ("llama.rope.freq_base"). A JSON null counts as absent.
bool config_has(const struct config *c, const char *key);
bool config_is_gguf(const struct config *c);

// Each getter: STATUS_NOT_FOUND when the key is absent, STATUS_INVALID when the value has another type or does not
// fit; the message names the file and the key. Integers stored as floats (4096.0) are accepted, fractions are not.
enum status config_u64(const struct config *c, const char *key, uint64_t *out, struct err *e) TF_MUST_CHECK;
enum status config_f64(const struct config *c, const char *key, double *out, struct err *e) TF_MUST_CHECK;
enum status config_bool(const struct config *c, const char *key, bool *out, struct err *e) TF_MUST_CHECK;
// The string lives as long as the config and is terminated; it may hold zero bytes before its end.
enum status config_text(const struct config *c, const char *key, const char **out, size_t *n,
                        struct err *e) TF_MUST_CHECK;

// Arrays: length, then elements, each in constant time. config_n is STATUS_INVALID when the value is no array. A string
// out of a GGUF array has no zero byte after it.
enum status config_n(const struct config *c, const char *key, size_t *n, struct err *e) TF_MUST_CHECK;
enum status config_u64_at(const struct config *c, const char *key, size_t i, uint64_t *out,
                          struct err *e) TF_MUST_CHECK;
enum status config_f64_at(const struct config *c, const char *key, size_t i, double *out, struct err *e) TF_MUST_CHECK;
enum status config_text_at(const struct config *c, const char *key, size_t i, const char **out, size_t *n,
                           struct err *e) TF_MUST_CHECK;

// A number or a list of numbers as at most `cap` ids; *n is how many there are. Absent or null gives *n = 0.
enum status config_ids(const struct config *c, const char *key, int32_t *ids, size_t cap, size_t *n,
                       struct err *e) TF_MUST_CHECK;

// Reads a JSON settings file on its own (tokenizer_config.json). Free with config_free.
enum status config_read(const char *path, struct config **out, struct err *e) TF_MUST_CHECK;
// The same of a text in memory that messages call `path`.
enum status config_parse(const char *path, const char *text, size_t n, struct config **out,
                         struct err *e) TF_MUST_CHECK;
void config_free(struct config *c);

const char *config_file(const struct config *c); // the path that messages name

#endif
