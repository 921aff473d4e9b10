// Texts made from the option table: help, the manual page, shell completion.
#ifndef TF_CLI_HELP_H
#define TF_CLI_HELP_H

#include "cli/options.h"

#include <stdio.h>

// "tensorfold logits MODEL --ids IDS ...": a command with its operands and the flags that it cannot do without.
enum { HELP_USAGE_BYTES = 160 };
void help_usage(enum command command, char out[HELP_USAGE_BYTES]);

void help_overview(FILE *out);                        // every command with one line
void help_command(FILE *out, enum command command);   // one command and its flags
void help_manual(FILE *out, const char *version);     // the manual page, as roff
void help_completion(FILE *out);                      // completion for bash

#endif
