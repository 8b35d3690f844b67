// What attack.c asks of the PC.
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void attack_main(void);

long attack_read(void *to, size_t n) {
    return read(0, to, n);
}

void attack_write(const void *from, size_t n) {
    if (write(1, from, n) != (ssize_t)n) {
        _exit(4);
    }
}

void *attack_map(size_t n) {
    return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void attack_protect(void *at, size_t n, int access) {
    mprotect(at, n, access);
}

void attack_exit(int status) {
    _exit(status);
}

int main(void) {
    attack_main();
    return 0;
}
