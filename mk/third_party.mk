# yyjson: one pinned copy out of the PyPI source package, fetched and checked by tools/fetch_yyjson.

YYJSON_DIR := build/third_party/yyjson
YYJSON_OBJ := $(BUILD)/obj/third_party/yyjson.o

$(YYJSON_DIR)/yyjson.h $(YYJSON_DIR)/yyjson.c &:
	$(call say,FETCH,yyjson)
	$(Q)tools/fetch_yyjson $(YYJSON_DIR)

$(YYJSON_OBJ): $(YYJSON_DIR)/yyjson.c $(YYJSON_DIR)/yyjson.h
	@mkdir -p $(@D)
	$(call say,CC,yyjson.c)
	$(Q)$(CC) -std=c17 -O2 -fvisibility=hidden -I$(YYJSON_DIR) -w -c $< -o $@
