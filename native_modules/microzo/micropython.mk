# User module for the ports that build with make.
MICROZO_DIR := $(USERMOD_DIR)
include $(MICROZO_DIR)/sources.mk

SRC_USERMOD_C += $(MICROZO_DIR)/_microzo.c
SRC_USERMOD_LIB_C += $(addprefix $(MICROZO_DIR)/kernels/,$(MICROZO_KERNELS))

# Objects lie under the module's path inside USER_C_MODULES.
MICROZO_OBJ := $(BUILD)/$(patsubst $(USER_C_MODULES)/%,%,$(MICROZO_DIR))/kernels
MICROZO_FLAGS := -O2 $(if $(findstring arm-none-eabi,$(CROSS_COMPILE)),-mno-unaligned-access)
$(MICROZO_OBJ)/%.o: CFLAGS += $(MICROZO_FLAGS)
