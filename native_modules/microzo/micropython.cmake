# User module for the ports that build with CMake (rp2, esp32).
add_library(usermod_microzo INTERFACE)
file(GLOB MICROZO_KERNELS ${CMAKE_CURRENT_LIST_DIR}/kernels/*.c
    ${CMAKE_CURRENT_LIST_DIR}/kernels/arch/*.c)
# shared.c is for the second native module alone.
list(REMOVE_ITEM MICROZO_KERNELS ${CMAKE_CURRENT_LIST_DIR}/kernels/shared.c)
target_sources(usermod_microzo INTERFACE
    ${CMAKE_CURRENT_LIST_DIR}/_microzo.c
    ${MICROZO_KERNELS}
)
target_include_directories(usermod_microzo INTERFACE ${CMAKE_CURRENT_LIST_DIR})
set_source_files_properties(${MICROZO_KERNELS} PROPERTIES COMPILE_OPTIONS "-O2")
target_link_libraries(usermod INTERFACE usermod_microzo)
