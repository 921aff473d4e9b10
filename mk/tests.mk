# Tests: tests/unit/<layer>/test_*.c become one program each; tests/*/check_*.py run in build/venv.

SUPPORT_OBJ := $(call to_objects,$(sort $(wildcard tests/support/*.c)))
UNIT_SOURCES := $(sort $(wildcard tests/unit/*/test_*.c))
UNIT_BINS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(UNIT_SOURCES))
layer_of = $(word 1,$(subst /, ,$(patsubst $(BUILD)/tests/%,%,$(1))))

.SECONDARY:
.SECONDEXPANSION:
$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(SUPPORT_OBJ) $$(call libs_of,$$(call layer_of,$$@)) $(YYJSON_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(TF_LDFLAGS) $(LDFLAGS) $^ -o $@ $(TF_LDLIBS)

.PHONY: unit unit-programs lint check check-full test-needs
unit-programs: $(UNIT_BINS)

unit: $(UNIT_BINS) ## build and run the unit tests
	$(Q)tools/run_tests $(UNIT_BINS)

lint: ## check the rules of the house
	$(Q)tools/lint

# The second compiler of `make check`; its binary has to give the first one's bits.
OTHER_CC := $(if $(filter clang%,$(CC)),gcc,clang)
OTHER_BUILD := $(BUILD)/$(OTHER_CC)
MAKE_OTHER = $(MAKE) --no-print-directory CC=$(OTHER_CC) BUILD=$(OTHER_BUILD)
MAKE_SAME = $(MAKE) --no-print-directory

PYTHON := build/venv/bin/python
MODEL ?= $(shell tools/fetch_model --path)
# Scripts of the second tier need what only build/venv-full has.
FULL_PYTHON := build/venv-full/bin/python
FULL_CHECKS := tests/golden/check_transformers.py tests/tokenizers/check_unicode.py \
               tests/tokenizers/check_ggml_vocabs.py
PYTHON_CHECKS := $(sort $(filter-out $(FULL_CHECKS),$(wildcard tests/*/check_*.py)))
# Programs of ours that scripts drive: tests/<area>/<name>.c with a main, linked with one layer and those below.
HELPER_LAYER_templates := text
HELPER_LAYER_http := server
HELPERS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/templates/*.c tests/http/*.c))
helper_layer = $(HELPER_LAYER_$(call layer_of,$(1)))
$(HELPERS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $$(call libs_of,$$(call helper_layer,$$@)) $(YYJSON_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(TF_LDFLAGS) $(LDFLAGS) $^ -o $@ $(TF_LDLIBS)

# Options of one script, by its name.
OPTIONS_check_same_bits = $(if $(SAN),,--also $(OTHER_BUILD)/tensorfold)
# $(1): the script, $(2): more options, $(3): another Python. Sanitizer builds judge no seconds.
run_python = '$(or $(3),$(PYTHON)) $(1) --binary $(BINARY) --tests tests --model "$(MODEL)"\
$(if $(SAN), --no-time-limits)\
$(addprefix $(SPACE),$(2) $(OPTIONS_$(basename $(notdir $(1)))))'
SPACE := $(subst ,, )

# Steps of the first tier. A sanitizer run is the same suite on one compiler.
CHECK_STEPS = '$(MAKE_SAME) lint' '$(MAKE_SAME) unit' $(if $(SAN),,'$(MAKE_OTHER) unit') '$(BINARY) kcheck' \
              '$(MAKE_SAME) fuzz-replay' $(foreach s,$(PYTHON_CHECKS),$(call run_python,$(s)))

# Every program that a step runs, so that `make -j test-needs` builds them side by side.
test-needs: $(BINARY) $(HELPERS) $(UNIT_BINS) $$(REPLAYS) ## what tests need: programs, packages, the model
	$(Q)tools/test_python
	$(Q)tools/fetch_model
	$(if $(SAN),,$(Q)+$(MAKE_OTHER) all unit-programs)

check: test-needs ## all tests of the first tier
	$(Q)+tools/run_tests -v $(CHECK_STEPS)

# The second tier, by hand: the first tier, the long form of every script, transformers, sanitizers, fuzzing, and speed
# beside llama.cpp on an otherwise idle machine.
FULL_STEPS = '$(MAKE_SAME) check' $(foreach s,$(PYTHON_CHECKS),$(call run_python,$(s),--full)) \
             $(foreach s,$(FULL_CHECKS),$(call run_python,$(s),--full,$(FULL_PYTHON))) \
             $(foreach s,asan ubsan tsan,'$(MAKE_SAME) SAN=$(s) BUILD=$(BUILD)/$(s) check') '$(MAKE_SAME) fuzz' \
             '$(FULL_PYTHON) bench/beside_llama_cpp.py --binary $(BINARY) --model "$(MODEL)"'

check-full: test-needs ## everything long, by hand: takes hours and fetches 4 GB of Python packages
	$(Q)tools/test_python full
	$(Q)printf 'check-full runs:\n'; printf '  %s\n' $(FULL_STEPS)
	$(Q)+tools/run_tests -v $(FULL_STEPS)
