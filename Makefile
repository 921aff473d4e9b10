# TensorFold: the one entry to building, checking and installing.
#
#   make                 the binary, build/tensorfold
#   make help            every target with one line
#   make check           all tests of the first tier (under 12 minutes on 2 cores)
#   make CC=clang ...    another compiler, in a build folder of its own
#   make SAN=asan ...    a sanitizer build (asan, ubsan, tsan), in a build folder of its own

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

include mk/flags.mk
include mk/isa.mk
include mk/third_party.mk
include mk/cuda.mk
include mk/layers.mk
include mk/tests.mk
include mk/fuzz.mk
include mk/docs.mk
include mk/install.mk

.PHONY: all help clean
all: $(BINARY) ## the binary

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

clean: ## remove everything that was built
	rm -rf build compile_commands.json
