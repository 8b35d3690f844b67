// Starts MicroPython as ports for bought boards do: file systems, boot.py, main.py, REPL.
#include "memory.h"

#include "py/cstack.h"
#include "py/gc.h"
#include "py/mphal.h"
#include "py/runtime.h"
#include "extmod/vfs.h"
#include "shared/runtime/gchelper.h"
#include "shared/runtime/pyexec.h"

static void run_files(void) {
    pyexec_frozen_module("_boot.py", false);
    if (pyexec_file_if_exists("boot.py") & PYEXEC_FORCED_EXIT) {
        return;
    }
    // A host in the raw REPL wants a quiet board after its soft reset.
    if (pyexec_mode_kind == PYEXEC_MODE_FRIENDLY_REPL) {
        pyexec_file_if_exists("main.py");
    }
}

static void run_repl(void) {
    for (;;) {
        int exit = pyexec_mode_kind == PYEXEC_MODE_RAW_REPL
            ? pyexec_raw_repl() : pyexec_friendly_repl();
        if (exit != 0) {
            return;
        }
    }
}

int main(void) {
    mp_cstack_init_with_top(&_estack, (char *)&_estack - (char *)&_sstack);
    for (;;) {
        gc_init(&_heap_start, &_heap_end);
        mp_init();
        // Fails when no ROMFS was put there, which is no error.
        mp_vfs_mount_romfs_protected();
        run_files();
        run_repl();
        mp_hal_stdout_tx_str("MPY: soft reboot\r\n");
        gc_sweep_all();
        mp_deinit();
    }
}

void gc_collect(void) {
    gc_collect_start();
    gc_helper_collect_regs_and_stack();
    gc_collect_end();
}
