# A user module that stands for ulab in tests: see ndarray.c.
SRC_USERMOD += $(USERMOD_DIR)/ndarray.c
CFLAGS_USERMOD += -I$(USERMOD_DIR)
override CFLAGS_EXTRA += -DMODULE_ULAB_ENABLED=1
