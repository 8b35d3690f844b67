// What attack.c asks of Linux on ARM, without a C library: the kernels are compiled for a bare core.
    .syntax unified
    .thumb
    .text

    .macro function name
    .global \name
    .thumb_func
    .type \name, %function
\name:
    .endm

function _start
    bl attack_main

function attack_exit
    movs r7, #1
    svc #0

function attack_read // (to, n)
    push {r4, r7, lr}
    mov r2, r1
    mov r1, r0
    movs r0, #0
    movs r7, #3
    svc #0
    pop {r4, r7, pc}

function attack_write // (from, n)
    push {r4, r7, lr}
    mov r2, r1
    mov r1, r0
    movs r0, #1
    movs r7, #4
    svc #0
    pop {r4, r7, pc}

function attack_protect // (at, n, access)
    push {r4, r7, lr}
    movs r7, #125
    svc #0
    pop {r4, r7, pc}

function attack_map // (n): mmap2 of private, anonymous memory
    push {r4, r5, r6, r7, lr}
    mov r1, r0
    movs r0, #0
    movs r2, #3
    movs r3, #34
    subs r4, r0, #1
    movs r5, #0
    movs r7, #192
    svc #0
    pop {r4, r5, r6, r7, pc}
