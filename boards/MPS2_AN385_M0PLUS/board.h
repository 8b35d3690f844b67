#include "../MPS2_AN385/board.h"
