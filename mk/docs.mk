# Manual page and completion script, both printed by the binary from its option table; the compilation database.

MAN := $(BUILD)/tensorfold.1
COMPLETION := $(BUILD)/tensorfold.bash

.PHONY: man completion
man: $(MAN) ## the manual page, build/tensorfold.1
completion: $(COMPLETION) ## the completion script for bash

$(MAN): $(BINARY)
	$(call say,MAN,$@)
	$(Q)$(BINARY) help --man >$@

$(COMPLETION): $(BINARY)
	$(call say,COMP,$@)
	$(Q)$(BINARY) help --completion >$@

# One entry a C file, for editors and clangd.
COMPDB_SOURCES = $(foreach l,$(LAYERS),$(SOURCES_$(l))) $(KCHECK_SOURCES) $(UNIT_SOURCES) $(wildcard tests/support/*.c)
compdb_command = $(strip $(CC) $(TF_CFLAGS) $(call isa_flags,$(1)) $(CFLAGS) -c $(1))
compdb_entry = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(subst ",\",$(compdb_command))"}
comma := ,
define compdb_separator
$(comma)

endef

compdb_join = $(subst } {,}$(compdb_separator){,$(strip $(1)))

.PHONY: compdb
compdb: ## compile_commands.json, for editors
	$(call say,COMPDB,compile_commands.json)
	$(file >compile_commands.json,[$(call compdb_join,$(foreach f,$(COMPDB_SOURCES),$(call compdb_entry,$(f))))])
