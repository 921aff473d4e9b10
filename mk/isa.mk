# Instruction sets by file suffix: only these files may use them, and only after the run-time check.
# -O3 there: register tiles are written as loops over constants, which have to be unrolled to live in registers.
# Sanitizers make such loops huge, so their builds leave them rolled; gcc has to be asked for vzeroupper then.
SAN_KERNEL_OPT := -O1 $(if $(findstring clang,$(CC)),,-fexpensive-optimizations)
KERNEL_OPT := $(if $(SAN),$(SAN_KERNEL_OPT),-O3)

isa_flags = $(if $(filter %_avx2.c,$(1)),$(KERNEL_OPT) -mavx2 -mfma -mf16c) \
            $(if $(filter %_avx512.c,$(1)),$(KERNEL_OPT) $(AVX512) -mfma -mf16c)
AVX512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni
ARCH := $(shell uname -m)
# On other processors the x86 files are left out; the plain C reference is always built.
ifneq ($(ARCH),x86_64)
NOT_BUILT := %_avx2.c %_avx512.c
endif
