# The kernel files, for every shell.
MICROZO_KERNELS = add.c arch/thumb2_dense.c arch/thumb2_depthwise.c arch/thumb2_gemm.c arch/dsp_pack.c arch/sign_tables.c arch/thumb1_dense.c arch/thumb1_depthwise.c arch/thumb1_gemm.c base.c concat.c columns.c conv.c crc.c dense.c dwconv.c entry.c entry_net.c entry_node.c \
	entry_stats.c entry_tools.c entry_train.c gradient.c layer.c loss.c mean.c mul.c net.c node.c pack.c \
	pad.c pass.c pool.c realign.c requant.c rng.c stats.c status.c update.c
# Files with inner loops: speed before size.
MICROZO_HOT = arch/sign_tables arch/thumb1_dense arch/thumb1_depthwise arch/thumb1_gemm arch/thumb2_dense arch/thumb2_depthwise arch/thumb2_gemm arch/dsp_pack columns conv dense dwconv pack pass pool update
# GCC's scheduler before register allocation spills what the inner loops keep in registers.
MICROZO_HOT_FLAGS = -O2 -fno-schedule-insns
