// What every fuzz target defines: one run over one input.
#ifndef TF_TESTS_FUZZ_FUZZ_H
#define TF_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

// Returns 0 however the input is judged; a fault shows as a crash, a sanitizer's report or a time-out.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#endif
