# Tests: tests/unit/<layer>/test_*.c become one program each; tests/*/check_*.py run in the venv.

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

.PHONY: unit
unit: $(UNIT_BINS) ## build and run the unit tests
	$(Q)tools/run_tests $(UNIT_BINS)
