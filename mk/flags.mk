# Compiler, flags and build folders. User's CFLAGS come last and never replace ours.

ifeq ($(origin CC),default)
CC := gcc
endif
SAN ?=
CONFIG := $(notdir $(firstword $(CC)))$(if $(SAN),-$(SAN))
# The plain gcc build lies in build/; every other configuration has a folder inside it.
BUILD ?= build$(if $(filter-out gcc,$(CONFIG)),/$(CONFIG))
BINARY := $(BUILD)/tensorfold

VERSION := $(shell cat VERSION)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes \
        -Wpointer-arith -Wwrite-strings -Wundef
# -ffp-contract=off is part of the arithmetic: gcc and clang would fuse differently without it.
ARITH := -ffp-contract=off -fno-math-errno -fno-fast-math
OPT ?= -O2 -g
TF_CFLAGS = -std=c17 -D_GNU_SOURCE $(OPT) -pthread -fno-omit-frame-pointer -fvisibility=hidden \
             $(WARN) $(ARITH) -Isrc -Iinclude -I. -I$(YYJSON_DIR) -DTF_VERSION='"$(VERSION)"'
TF_LDFLAGS := -pthread
# A program is linked with those libraries only that its archives call.
TF_LDLIBS := -Wl,--as-needed -lpcre2-8 -lmicrohttpd -lcrypto -lm
CLI_LDLIBS := -ledit

SAN_FLAGS_asan := -fsanitize=address -fno-sanitize-recover=all -DTF_DEBUG=1
SAN_FLAGS_ubsan := -fsanitize=undefined -fno-sanitize-recover=all -DTF_DEBUG=1
SAN_FLAGS_tsan := -fsanitize=thread -DTF_DEBUG=1
ifneq ($(SAN),)
ifeq ($(SAN_FLAGS_$(SAN)),)
$(error SAN=$(SAN) is unknown; use asan, ubsan or tsan)
endif
TF_CFLAGS += $(SAN_FLAGS_$(SAN))
TF_LDFLAGS += $(SAN_FLAGS_$(SAN))
endif
ifeq ($(WERROR),1)
TF_CFLAGS += -Werror
endif

V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-6s %s\n' '$(1)' '$(2)'
else
Q :=
say = @:
endif
