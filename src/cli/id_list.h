// Lists of token ids given on the command line.
#ifndef TF_CLI_ID_LIST_H
#define TF_CLI_ID_LIST_H

#include "base/err.h"
#include "text/tokenizer.h"

#include <stdbool.h>
#include <yyjson.h>

// Appends the ids of `argument`: "1,2,3", or "@FILE" where FILE holds a JSON list of ids or an object whose
// `prompt` is one. At least one id; each from 0 to 2^31 - 1. *usage is set when the fault lies in the argument, not
// in a file.
enum status id_list_parse(const char *argument, struct ids *out, bool *usage, struct err *e) TF_MUST_CHECK;

// Appends the ids of a JSON list.
enum status id_list_from_json(yyjson_val *list, const char *what, struct ids *out, struct err *e) TF_MUST_CHECK;

#endif
