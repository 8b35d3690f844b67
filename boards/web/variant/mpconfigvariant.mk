# The heap grows, and one file runs on a page, in a worker and under node.
JSFLAGS += -s ALLOW_MEMORY_GROWTH -s ENVIRONMENT=web,worker,node

# After the port's own library, whose functions it replaces: see there.
$(BUILD)/micropython.mjs: JSFLAGS += --js-library $(VARIANT_DIR)/library.js
