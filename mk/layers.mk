# One archive a layer; a test links only its layer and those below, so the linker checks the layering too.

LAYERS := base checkpoint text kernels backend model engine server cli
# Checks of the kernels have an archive of their own: no kernel may lean on them, and only kcheck links them.
KCHECK_SOURCES := $(sort $(wildcard src/kernels/*.c src/kernels/*/*_check.c))
layer_sources = $(filter-out $(KCHECK_SOURCES) $(NOT_BUILT),$(sort $(wildcard src/$(1)/*.c src/$(1)/*/*.c)))
to_objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

# Lower layers each archive may call, in link order.
BELOW_base :=
BELOW_checkpoint := base
BELOW_text := base
BELOW_kernels := base
BELOW_kcheck := kernels base
BELOW_backend := kernels base
BELOW_model := backend kernels checkpoint base
BELOW_engine := base
BELOW_server := engine model backend kernels text base
BELOW_cli := server engine model backend kcheck kernels text checkpoint base

define layer_rule
SOURCES_$(1) := $$(call layer_sources,$(1))
LIB_$(1) := $(BUILD)/lib/lib$(1).a
$$(LIB_$(1)): $$(call to_objects,$$(SOURCES_$(1)))
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(Q)ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

LIB_kcheck := $(BUILD)/lib/libkcheck.a
$(LIB_kcheck): $(call to_objects,$(KCHECK_SOURCES))
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)ar rcs $@ $^

libs_of = $(LIB_$(1)) $(foreach l,$(BELOW_$(1)),$(LIB_$(l)))

$(BUILD)/obj/%.o: %.c | $(YYJSON_DIR)/yyjson.h
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(TF_CFLAGS) $(call isa_flags,$<) $(CFLAGS) -MMD -MP -c $< -o $@

MAIN_OBJ := $(BUILD)/obj/src/cli/main.o
$(BINARY): $(MAIN_OBJ) $(call libs_of,cli) $(YYJSON_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(TF_LDFLAGS) $(LDFLAGS) $^ -o $@ $(TF_LDLIBS) $(CLI_LDLIBS)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
