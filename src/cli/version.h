// What `tensorfold --version` tells.
#ifndef TF_CLI_VERSION_H
#define TF_CLI_VERSION_H

#include "base/err.h"

#include <stdio.h>

// Version, arithmetic version of the processor, compiler, CUDA or not, instruction sets found here.
enum status version_print(FILE *out, struct err *e) TF_MUST_CHECK;

#endif
