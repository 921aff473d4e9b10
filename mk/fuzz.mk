# Fuzzing: tests/fuzz/fuzz_<target>.c is one libFuzzer target; its corpus is replayed in `make check`.
#
#   make fuzz FUZZ=gguf SECONDS=300    one target (all without FUZZ); needs clang
#   make fuzz-replay                   every corpus, built with the ordinary compiler
#
# A find is kept in build/fuzz/finds/; once mended it belongs into tests/fuzz/corpus/<target>/ under a telling name.

# Layers that a target links, in link order.
FUZZ_LAYERS_safetensors := checkpoint base
FUZZ_LAYERS_gguf := checkpoint base
FUZZ_LAYERS_config := checkpoint base
# Sources of a layer above that it needs without the rest.
FUZZ_MORE_config := $(wildcard src/model/settings*.c src/model/families/*.c)
FUZZ_LAYERS_tokenizer := text base
FUZZ_LAYERS_jinja := text base
FUZZ_LAYERS_request := server engine text base
FUZZ_LAYERS_http := base
FUZZ_MORE_http := $(wildcard src/server/http*.c)

FUZZ ?= $(FUZZ_TARGETS)
SECONDS ?= 300
FUZZ_MAX_BYTES ?= 65536
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

FUZZ_BUILD := build/fuzz
FUZZ_CC := clang
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_CFLAGS = $(filter-out -O2 $(SAN_FLAGS_$(SAN)),$(TF_CFLAGS)) -O1 $(FUZZ_SAN) -fsanitize=fuzzer-no-link -DTF_DEBUG=1
fuzz_sources = tests/fuzz/fuzz_$(1).c $(FUZZ_MORE_$(1)) $(foreach l,$(FUZZ_LAYERS_$(1)),$(SOURCES_$(l)))
fuzz_objects = $(patsubst %.c,$(FUZZ_BUILD)/obj/%.o,$(call fuzz_sources,$(1)))

$(FUZZ_BUILD)/obj/%.o: %.c | $(YYJSON_DIR)/yyjson.h
	@mkdir -p $(@D)
	$(call say,FUZZCC,$<)
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) $(call isa_flags,$<) -MMD -MP -c $< -o $@

# Address checks only: with all of it inlined, clang needs many minutes for the others.
$(FUZZ_BUILD)/obj/yyjson.o: $(YYJSON_DIR)/yyjson.c $(YYJSON_DIR)/yyjson.h
	@mkdir -p $(@D)
	$(call say,FUZZCC,$<)
	$(Q)$(FUZZ_CC) -std=c17 -O1 -g -fsanitize=address,fuzzer-no-link -w -I$(YYJSON_DIR) -c $< -o $@

$(FUZZ_BUILD)/fuzz_%: $$(call fuzz_objects,$$*) $(FUZZ_BUILD)/obj/yyjson.o
	$(call say,LINK,$@)
	$(Q)$(FUZZ_CC) -pthread $(FUZZ_SAN) -fsanitize=fuzzer $^ -o $@ $(TF_LDLIBS)

$(BUILD)/fuzz-replay/%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(BUILD)/obj/tests/fuzz/replay.o \
                        $$(call to_objects,$$(FUZZ_MORE_$$*)) \
                        $$(foreach l,$$(FUZZ_LAYERS_$$*),$$(LIB_$$(l))) $(YYJSON_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(TF_LDFLAGS) $(LDFLAGS) $^ -o $@ $(TF_LDLIBS)

REPLAYS := $(addprefix $(BUILD)/fuzz-replay/,$(FUZZ_TARGETS))
.PHONY: fuzz fuzz-replay
fuzz: $(addprefix $(FUZZ_BUILD)/fuzz_,$(FUZZ)) ## fuzz with libFuzzer: FUZZ=target SECONDS=300
	$(Q)tools/run_tests $(foreach t,$(FUZZ),'tools/fuzz $(FUZZ_BUILD) $(t) $(SECONDS) $(FUZZ_MAX_BYTES)')

fuzz-replay: $(REPLAYS) ## run every fuzz corpus once
	$(Q)tools/run_tests $(foreach t,$(FUZZ_TARGETS),'$(BUILD)/fuzz-replay/$(t) tests/fuzz/corpus/$(t)')

-include $(shell find $(FUZZ_BUILD)/obj -name '*.d' 2>/dev/null)
