// The tokenizer that a GGUF file carries in its metadata.
#ifndef TF_CLI_GGUF_TEXT_H
#define TF_CLI_GGUF_TEXT_H

#include "checkpoint/config.h"
#include "text/tokenizer.h"

// Builds it from tokenizer.ggml.*: the models gpt2 (with a pre-tokenizer of gguf_pre.h), llama, gemma4, bert and t5.
// Others are refused by name.
enum status gguf_text_tokenizer(const struct config *metadata, struct tokenizer **out, struct err *e) TF_MUST_CHECK;

// The written form of the token that an id key (tokenizer.ggml.bos_token_id) names, "" when the key is absent. The
// string lives as long as the metadata.
enum status gguf_text_token(const struct config *metadata, const char *id_key, const char **text, size_t *n,
                            struct err *e) TF_MUST_CHECK;

#endif
