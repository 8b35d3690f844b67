# Generated from native_modules/microzo/words.toml by boards/tools/words.py; do not edit.
"""Names of the words of a plan (SPEC.md, section 3).

A plan is a sequence of int32: HEADER_WORDS of header, then OP_WORDS for each operator.
`plan[N_OPS]` reads a header word, `plan[op_base(i) + KIND]` a word of operator i.
"""

try:
    from micropython import const
except ImportError:

    def const(value):
        return value


MAGIC_VALUE = const(0x006F7A6D)
VERSION_MAJOR = const(1)
VERSION_MINOR = const(0)
HEADER_WORDS = const(32)
OP_WORDS = const(48)

# header
MAGIC = const(0)
MAJOR = const(1)
MINOR = const(2)
N_OPS = const(3)
N_TENSORS = const(4)
NET_IN_H = const(5)
NET_IN_W = const(6)
NET_IN_C = const(7)
CLASSES = const(8)
IN_TENSOR = const(9)
OUT_TENSOR = const(10)
NET_IN_ZP = const(11)
TABLE_OFF = const(12)
LOGIT_MULT = const(13)
LOGIT_SHIFT = const(14)
BLOB_LEN = const(15)
NET_FLAGS = const(16)
BLOB_CRC = const(17)
PLAN_CRC = const(18)
COV_OFF = const(19)
ARENA_LEN = const(20)  # run time
LOGITS_OFF = const(21)  # run time
SCRATCH_OFF = const(22)  # run time
SCRATCH_LEN = const(23)  # run time
PIN_LEN = const(24)  # run time
STATE_LEN = const(25)  # run time

# operator
KIND = const(0)
FLAGS = const(1)
TID = const(2)
IN = const(3)
IN2 = const(4)
OUT = const(5)
IN_OFF = const(6)  # run time
IN2_OFF = const(7)  # run time
OUT_OFF = const(8)  # run time
IN_H = const(9)
IN_W = const(10)
IN_C = const(11)
OUT_H = const(12)
OUT_W = const(13)
OUT_C = const(14)
K_H = const(15)
K_W = const(16)
S_H = const(17)
S_W = const(18)
P_T = const(19)
P_B = const(20)
P_L = const(21)
P_R = const(22)
IN_ZP = const(23)
IN2_ZP = const(24)
OUT_ZP = const(25)
ACT_MIN = const(26)
ACT_MAX = const(27)
W_OFF = const(28)
B_OFF = const(29)
M_OFF = const(30)
S_OFF = const(31)
L_OFF = const(32)
LS_OFF = const(33)
STAT_OFF = const(34)
F = const(35)
B_MAX = const(36)
EPS_W = const(37)
EPS_B = const(38)
MASTER_OFF = const(39)  # run time
BIAS_OFF = const(40)  # run time
MS_OFF = const(41)  # run time
MULT1 = const(42)
DIL_H = const(42)
SHIFT1 = const(43)
DIL_W = const(43)
MULT2 = const(44)
ABS_SUM = const(44)
SHIFT2 = const(45)
ROOM_LEN = const(45)  # run time
MULT = const(46)
SHIFT = const(47)

# values of KIND
CONV = const(1)
DWCONV = const(2)
DENSE = const(3)
AVGPOOL = const(4)
MAXPOOL = const(5)
ADD = const(6)
PAD = const(7)
MEAN = const(8)
MUL = const(9)
CONCAT = const(10)
LUT = const(11)
KIND_NAMES = (
    "?", "CONV", "DWCONV", "DENSE", "AVGPOOL", "MAXPOOL", "ADD", "PAD", "MEAN", "MUL", "CONCAT",
    "LUT",
)  # fmt: skip

# bits of FLAGS
EMIT_LOGITS = const(1)
ROUND_ONCE = const(2)
SPREAD_HW = const(4)
SPREAD_C = const(8)

# bits of NET_FLAGS
HAS_STATS = const(1)
HAS_COLORS = const(2)

# bits of `what`: of a selection (arena.place_state), probe and update
WEIGHTS = const(1)
BIASES = const(2)
MULTIPLIERS = const(4)

KEPT = const(128)  # products that a probe keeps at most


def op_base(index):
    """Index of the first word of operator `index`."""
    return HEADER_WORDS + OP_WORDS * index
