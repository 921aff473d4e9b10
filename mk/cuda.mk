# CUDA sources are built where nvcc is found. CUDA=1 demands it, CUDA=0 leaves it out.

CUDA ?= auto
NVCC := $(shell command -v nvcc 2>/dev/null)
CUDA_SOURCES := $(sort $(wildcard src/kernels/*/*.cu src/backend/cuda/*.cu))
ifeq ($(CUDA),1)
ifeq ($(NVCC),)
$(error CUDA=1 asks for CUDA, but nvcc is not on PATH)
endif
endif
