// TinyMaix's settings: int8, plain C, as emlearn-micropython builds it. Included before its own.
#ifndef __TM_PORT_H
#define __TM_PORT_H

#define TM_ARCH_CPU 0
#define TM_ARCH_ARM_SIMD 1
#define TM_ARCH_ARM_NEON 2
#define TM_ARCH_ARM_MVEI 3
#define TM_ARCH_RV32P 4
#define TM_ARCH_RV64V 5
#define TM_ARCH_CSKYV2 6
#define TM_ARCH_X86_SSE2 7
#define TM_OPT0 0
#define TM_OPT1 1

#define TM_ARCH TM_ARCH_CPU
#define TM_OPT_LEVEL TM_OPT0
#define TM_MDL_TYPE TM_MDL_INT8
#define TM_FASTSCALE 0
#define TM_LOCAL_MATH 1
#define TM_ENABLE_STAT 0
#define TM_MAX_CSIZE 1024
#define TM_MAX_KSIZE 40
#define TM_MAX_KCSIZE 2304
#define TM_INLINE __attribute__((always_inline)) static inline
#define TM_WEAK __attribute__((weak))
#define TM_STATIC static
#define tm_malloc(x) ((void *)0)
#define tm_free(x)
#define TM_PRINTF(...)
#define TM_DBG(...)
#define TM_DBGL()
#define TM_DBGT_INIT()
#define TM_DBGT_START()
#define TM_DBGT(x)
#define TM_PERF_REG(x)
#define TM_PERF_EXTREG(x)
#define TM_PERF_INIT(x)
#define TM_PERF_START(x)
#define TM_PERF_ADD(x)
#define TM_PERF_PRINT(x)

#endif
