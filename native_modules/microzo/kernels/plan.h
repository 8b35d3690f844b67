// The words of a plan (SPEC.md section 3) by name.
#ifndef MZ_PLAN_H
#define MZ_PLAN_H

#define MZ_MAGIC 0x006F7A6D
#define MZ_MAJOR 1
#define MZ_MINOR 0

enum {
    MZ_HEADER_WORDS = 32,
    MZ_OP_WORDS = 48,
    MZ_MAX_OPS = 255,
    MZ_MAX_CLASSES = 1024,
};

enum {
    MZ_H_MAGIC = 0,
    MZ_H_MAJOR = 1,
    MZ_H_MINOR = 2,
    MZ_H_N_OPS = 3,
    MZ_H_N_TENSORS = 4,
    MZ_H_IN_H = 5,
    MZ_H_IN_W = 6,
    MZ_H_IN_C = 7,
    MZ_H_CLASSES = 8,
    MZ_H_IN_TENSOR = 9,
    MZ_H_OUT_TENSOR = 10,
    MZ_H_IN_ZP = 11,
    MZ_H_TABLE_OFF = 12,
    MZ_H_LOGIT_MULT = 13,
    MZ_H_LOGIT_SHIFT = 14,
    MZ_H_BLOB_LEN = 15,
    MZ_H_FLAGS = 16,
    MZ_H_BLOB_CRC = 17,
    MZ_H_PLAN_CRC = 18,
    MZ_H_COV_OFF = 19,
    MZ_H_ARENA_LEN = 20,
    MZ_H_LOGITS_OFF = 21,
    MZ_H_SCRATCH_OFF = 22,
    MZ_H_SCRATCH_LEN = 23,
    MZ_H_PIN_LEN = 24,
    MZ_H_STATE_LEN = 25,
};

enum {
    MZ_O_KIND = 0,
    MZ_O_FLAGS = 1,
    MZ_O_TID = 2,
    MZ_O_IN = 3,
    MZ_O_IN2 = 4,
    MZ_O_OUT = 5,
    MZ_O_IN_OFF = 6,
    MZ_O_IN2_OFF = 7,
    MZ_O_OUT_OFF = 8,
    MZ_O_IN_H = 9,
    MZ_O_IN_W = 10,
    MZ_O_IN_C = 11,
    MZ_O_OUT_H = 12,
    MZ_O_OUT_W = 13,
    MZ_O_OUT_C = 14,
    MZ_O_K_H = 15,
    MZ_O_K_W = 16,
    MZ_O_S_H = 17,
    MZ_O_S_W = 18,
    MZ_O_P_T = 19,
    MZ_O_P_B = 20,
    MZ_O_P_L = 21,
    MZ_O_P_R = 22,
    MZ_O_IN_ZP = 23,
    MZ_O_IN2_ZP = 24,
    MZ_O_OUT_ZP = 25,
    MZ_O_ACT_MIN = 26,
    MZ_O_ACT_MAX = 27,
    MZ_O_W_OFF = 28,
    MZ_O_B_OFF = 29,
    MZ_O_M_OFF = 30,
    MZ_O_S_OFF = 31,
    MZ_O_L_OFF = 32,
    MZ_O_LS_OFF = 33,
    MZ_O_STAT_OFF = 34,
    MZ_O_F = 35,
    MZ_O_B_MAX = 36,
    MZ_O_EPS_W = 37,
    MZ_O_EPS_B = 38,
    MZ_O_MASTER_OFF = 39,
    MZ_O_BIAS_OFF = 40,
    MZ_O_MS_OFF = 41,
    MZ_O_MULT1 = 42,
    MZ_O_DIL_H = 42, // of CONV, DWCONV
    MZ_O_SHIFT1 = 43,
    MZ_O_DIL_W = 43, // of CONV, DWCONV
    MZ_O_MULT2 = 44,
    MZ_O_ABS_SUM = 44, // of CONV, DWCONV, DENSE
    MZ_O_SHIFT2 = 45,
    MZ_O_MULT = 46,
    MZ_O_SHIFT = 47,
};

enum {
    MZ_CONV = 1,
    MZ_DWCONV = 2,
    MZ_DENSE = 3,
    MZ_AVGPOOL = 4,
    MZ_MAXPOOL = 5,
    MZ_ADD = 6,
    MZ_PAD = 7,
    MZ_MEAN = 8,
    MZ_MUL = 9,
    MZ_CONCAT = 10,
    MZ_LUT = 11,
};

enum {
    MZ_FLAG_EMIT_LOGITS = 1,
    MZ_FLAG_ROUND_ONCE = 2,
    MZ_FLAG_SPREAD_HW = 4,
    MZ_FLAG_SPREAD_C = 8,
};

#endif
