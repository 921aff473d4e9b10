// The text side of a checkpoint: its tokenizer, its chat template and the ids that end a reply.
#ifndef TF_CLI_MODEL_TEXT_H
#define TF_CLI_MODEL_TEXT_H

#include "base/err.h"
#include "checkpoint/checkpoint.h"
#include "text/chat.h"
#include "text/tokenizer.h"

#include <stdint.h>

struct model_text {
    struct tokenizer *tokenizer;
    struct chat_template *chat; // NULL: the checkpoint has none
};

// Opens the tokenizer alone. `path` is a folder with tokenizer.json (a checkpoint need not be in it), or a .gguf file.
enum status model_text_tokenizer(const char *path, struct tokenizer **out, struct err *e) TF_MUST_CHECK;

// Opens the tokenizer and the chat template of an open checkpoint. A template is looked for in chat_template.jinja,
// then in tokenizer_config.json (the one named "default" when there are several), or in the GGUF metadata.
enum status model_text_open(const struct checkpoint *c, struct model_text *out, struct err *e) TF_MUST_CHECK;
void model_text_close(struct model_text *t);

enum { END_IDS_MAX = 64 };

// Every id that ends a reply: those of model_end_ids, and the eos_token of tokenizer_config.json. `t` may be NULL:
// then that token is found only where the file itself gives its id.
enum status model_text_end_ids(const struct checkpoint *c, const struct tokenizer *t, int32_t ids[END_IDS_MAX],
                               size_t *n, struct err *e) TF_MUST_CHECK;

#endif
