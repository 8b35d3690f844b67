# User modules of microzo, for USER_C_MODULES=<this file>.
include(${CMAKE_CURRENT_LIST_DIR}/microzo/micropython.cmake)
