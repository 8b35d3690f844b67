# The kernel files, for every shell.
MICROZO_KERNELS = add.c base.c clip.c color.c columns.c concat.c conv.c crc.c dense.c dwconv.c entry.c entry_color.c \
	entry_grad.c entry_net.c entry_node.c entry_stats.c entry_tools.c entry_train.c gradient.c layer.c loss.c mean.c \
	mul.c net.c node.c output.c pack.c patches.c pad.c pass.c pool.c realign.c requant.c rng.c stats.c status.c \
	update.c wgrad.c window.c
# Files with inner loops: speed before size.
MICROZO_ARCH = avx2_conv dsp_pack rv32_gemm sign_tables thumb1_dense thumb1_depthwise thumb1_gemm thumb2_dense \
	thumb2_depthwise thumb2_gemm
MICROZO_KERNELS += $(MICROZO_ARCH:%=arch/%.c)
MICROZO_HOT = $(MICROZO_ARCH:%=arch/%) add columns dense node output pack pass update wgrad
# Where these have no assembly of their own: all but Cortex-M0+.
MICROZO_HOT_WIDE = dwconv
# GCC's scheduler before register allocation spills what the inner loops keep in registers.
MICROZO_HOT_FLAGS = -O2 -fno-schedule-insns
# Smaller code where speed does not matter, in a native module.
MICROZO_COLD_FLAGS = -fno-tree-vrp -fno-move-loop-invariants
# One region for registers makes them smaller and no slower on Thumb-2; Cortex-M0+ spills with it.
MICROZO_THUMB2_FLAGS = -fira-region=one
# What a second native module has that takes the gradients (PART=gradient), and needs besides; shared.c
# is its alone.
MICROZO_GRADIENT = entry_grad.c gradient.c wgrad.c
MICROZO_SHARED = clip.c shared.c window.c
# What neither of the two has.
MICROZO_COLOR = color.c entry_color.c
