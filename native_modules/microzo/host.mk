# The kernels for CPython: make -f host.mk OUT=<folder> [PYTHON=<interpreter>] [SANITIZE=1]
# gives _native.abi3.so there, an extension for any CPython from 3.11 on.
# On x86-64 the kernels are there twice, for any processor and for those with AVX2; the module chooses
# when it is loaded, so it may move between machines.
HERE := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
include $(HERE)sources.mk

OUT ?= build/host
CC ?= cc
OBJCOPY ?= objcopy
PYTHON ?= python3
WARN = -std=c99 -Wall -Wextra -Wpedantic -Werror
ifeq ($(SANITIZE),1)
TUNE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
else
TUNE = -O3
endif
# HOST_VARIANTS=base for one that must not need objcopy.
HOST_VARIANTS ?= base $(if $(filter x86_64-%linux-gnu,$(shell $(CC) -dumpmachine)),avx2)
FLAGS_avx2 = -march=x86-64-v3

SOURCES = host_kernels.c $(addprefix kernels/,$(MICROZO_KERNELS))
FLAGS = $(WARN) $(TUNE) -fPIC -fvisibility=hidden -I$(HERE)kernels
VARIANTS = $(HOST_VARIANTS:%=$(OUT)/obj/%.o)

PYTHON_INCLUDE := $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')
ifeq ($(wildcard $(PYTHON_INCLUDE)/Python.h),)
$(error $(PYTHON) has no Python.h: install its headers (Debian: python3-dev))
endif

$(OUT)/_native.abi3.so: $(OUT)/obj/host_shell.o $(VARIANTS)
	$(CC) $(TUNE) -shared -o $@.part $^
	mv $@.part $@

$(OUT)/obj/host_shell.o: $(HERE)host_shell.c $(HERE)host.mk $(HERE)sources.mk
	@mkdir -p $(dir $@)
	$(CC) $(FLAGS) -isystem $(PYTHON_INCLUDE) $(if $(filter avx2,$(HOST_VARIANTS)),-DMZ_WITH_AVX2) -MMD -MP -c -o $@ $<

# The objects of a variant become one, of which only its table is seen from outside.
define variant
$(OUT)/obj/$1.o: $(addprefix $(OUT)/obj/$1/,$(SOURCES:.c=.o))
	$(CC) -r -nostdlib -o $$@.part $$^
	$(if $(filter-out base,$(HOST_VARIANTS)),$(OBJCOPY) --localize-hidden $$@.part)
	mv $$@.part $$@

$(OUT)/obj/$1/%.o: $(HERE)%.c $(HERE)host.mk $(HERE)sources.mk
	@mkdir -p $$(dir $$@)
	$(CC) $(FLAGS) $(FLAGS_$1) -DMZ_HOST_KERNELS=mz_kernels_$1 -MMD -MP -c -o $$@ $$<
endef
$(foreach v,$(HOST_VARIANTS),$(eval $(call variant,$v)))

-include $(OUT)/obj/host_shell.d $(foreach v,$(HOST_VARIANTS),$(addprefix $(OUT)/obj/$v/,$(SOURCES:.c=.d)))
