# The kernels for CPython: make -f host.mk OUT=<folder> [SANITIZE=1]
HERE := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
include $(HERE)sources.mk

OUT ?= build/host
CC ?= cc
WARN = -std=c99 -Wall -Wextra -Wpedantic -Werror
# The library is built where it runs; HOST_ARCH= for one that moves between machines.
HOST_ARCH ?= -march=native
ifeq ($(SANITIZE),1)
TUNE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
else
TUNE = -O3 $(HOST_ARCH)
endif

SOURCES = host_shell.c $(addprefix kernels/,$(MICROZO_KERNELS))
OBJECTS = $(addprefix $(OUT)/obj/,$(SOURCES:.c=.o))
FLAGS = $(WARN) $(TUNE) -fPIC -fvisibility=hidden -I$(HERE)kernels

$(OUT)/libmicrozo.so: $(OBJECTS)
	$(CC) $(TUNE) -shared -o $@.part $(OBJECTS)
	mv $@.part $@

$(OUT)/obj/%.o: $(HERE)%.c $(HERE)host.mk $(HERE)sources.mk
	@mkdir -p $(dir $@)
	$(CC) $(FLAGS) -MMD -MP -c -o $@ $<

-include $(OBJECTS:.o=.d)
