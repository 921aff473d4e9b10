// Typed reading of a request's fields. null means absent; whatever is wrong is refused with the field's full name.
#ifndef TF_SERVER_FIELDS_H
#define TF_SERVER_FIELDS_H

#include "base/json.h"
#include "server/api_error.h"

#include <stdbool.h>
#include <stdint.h>

// An object of a request. Reading a field that is absent or null leaves *out as it was and succeeds.
struct fields {
    yyjson_val *object; // NULL: every field is absent
    const char *prefix; // what its fields' names begin with: "", "stream_options."
    struct api_error *error;
};

// Names of codes that several places use, as OpenAI spells them.
#define FIELDS_INVALID_TYPE "invalid_type"
#define FIELDS_INVALID_VALUE "invalid_value"
#define FIELDS_MISSING "missing_required_parameter"
#define FIELDS_UNSUPPORTED "unsupported_parameter"

yyjson_val *fields_value(const struct fields *f, const char *key); // NULL when absent or null

enum status fields_bool(const struct fields *f, const char *key, bool *out) TF_MUST_CHECK;
enum status fields_text(const struct fields *f, const char *key, const char **out, size_t *n) TF_MUST_CHECK;
enum status fields_object(const struct fields *f, const char *key, yyjson_val **out) TF_MUST_CHECK;

// Numbers may come as strings ("0.5"), whole ones as 3.0; booleans are none.
enum status fields_number(const struct fields *f, const char *key, double least, double most,
                          double *out) TF_MUST_CHECK;

// A whole number of up to 64 bits and a sign.
struct whole_number {
    bool given, negative;
    uint64_t size;
};
enum status fields_whole(const struct fields *f, const char *key, struct whole_number *out) TF_MUST_CHECK;
enum status fields_count(const struct fields *f, const char *key, uint64_t *out, bool *given) TF_MUST_CHECK; // >= 0

// Reads one value as fields_number and fields_whole do, without a judgement of its size.
bool fields_as_number(yyjson_val *v, double *out);
bool fields_as_whole(yyjson_val *v, struct whole_number *out);

const char *fields_kind(yyjson_val *v); // "a boolean", "a list"

// Refuses a field: message is "<name>: <format>".
enum status fields_refuse(const struct fields *f, const char *code, const char *key, const char *format, ...)
    TF_PRINTF(4, 5);

#endif
