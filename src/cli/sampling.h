// How tokens are drawn: flags, else what the checkpoint recommends, else the likeliest token.
#ifndef TF_CLI_SAMPLING_H
#define TF_CLI_SAMPLING_H

#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "cli/options.h"
#include "kernels/draw/draw.h"

// What generation_config.json (do_sample, temperature, top_k, top_p, min_p) or the GGUF keys general.sampling.*
// recommend; greedy where they are silent. What they recommend besides and is not served gets a log line.
enum status sampling_recommended(const struct checkpoint *c, const struct log *log, struct draw_rule *rule,
                                 struct err *e) TF_MUST_CHECK;

// Puts the flags that were given over `rule`.
void sampling_from_flags(const struct options *o, struct draw_rule *rule);

// The seed of a reply: --seed, else a hash of the prompt's ids.
uint64_t sampling_seed(const struct options *o, const int32_t *prompt, size_t n);

#endif
