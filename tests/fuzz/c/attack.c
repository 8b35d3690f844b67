// Makes calls of the native API's table between guard pages and says what came of them. attack.py
// writes the calls and judges; this file and the kernels are all that runs on the core.
//
// Standard input holds calls, one behind the other, little-endian:
//     u8 entry of the table, u8 place (0: buffers end at a guard page, 1: they begin there), then for
//     every letter of the signature: i, an int32; r and w, a buffer: u8 what (0: its own, else the
//     argument with that number, counted from 1, once more: nothing follows), u8 bytes of an item,
//     u8 whether it lies at an odd address, u32 bytes, lo, hi, then the bytes.
// Standard output, for every call: int32 what it returned, then for every buffer of its own: u32 CRC-32
// of bytes lo..hi-1, u8 bit 0: a byte differs from what it was, bit 1: a byte beside it does.
// A call that touches a guard page, or writes to an r, ends the program by a signal.
#include <stddef.h>
#include <stdint.h>

#include "api.h"

#define PAGE 4096u
#define ROOM (1u << 18) // of a buffer; attack.py leaves out calls that need more
#define BESIDE 64u // canaries next to a buffer
#define MOST_INPUT (48u << 20)

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);

// attack_arm.S, or the C library
long attack_read(void *to, size_t n);
void attack_write(const void *from, size_t n);
void *attack_map(size_t n);
void attack_protect(void *at, size_t n, int access); // 0: none, 1: read, 3: read and write
void attack_exit(int status);

#ifdef __SANITIZE_ADDRESS__ // sees reads and writes beside a buffer that are short of a page
void __asan_poison_memory_region(const volatile void *at, size_t n);
void __asan_unpoison_memory_region(const volatile void *at, size_t n);
#else
#define __asan_poison_memory_region(at, n)
#define __asan_unpoison_memory_region(at, n)
#endif

// Entries that do what they must not: the guards see it, or attack.py's test fails.
static int32_t reads_behind(const mz_arg_t *args) {
    return ((volatile uint8_t *)args[0].data)[args[0].n] & 0;
}

static int32_t reads_before(const mz_arg_t *args) {
    return ((volatile uint8_t *)args[0].data)[-1] & 0;
}

static int32_t writes_behind(const mz_arg_t *args) {
    ((volatile uint8_t *)args[0].data)[args[0].n] ^= 1;
    return 0;
}

static int32_t writes_before(const mz_arg_t *args) {
    ((volatile uint8_t *)args[0].data)[-1] ^= 1;
    return 0;
}

static int32_t writes(const mz_arg_t *args) {
    ((volatile uint8_t *)args[0].data)[0] ^= 1;
    return 0;
}

static int32_t raises_and_writes(const mz_arg_t *args) {
    writes(args);
    return -1;
}

typedef struct {
    const char *signature;
    mz_entry_t function;
} row_t;

static const row_t table[] = {
#define ROW(name, signature, function) {signature, function},
    MZ_API(ROW)
#undef ROW
    // spoilt ones, by their place from here on: attack.SPOILT
    {"w", reads_behind}, {"w", reads_before}, {"w", writes_behind}, {"w", writes_before},
    {"r", writes}, {"w", raises_and_writes},
};

typedef struct {
    uint8_t *room; // ROOM bytes between two guard pages
    uint8_t *at; // the buffer
    const uint8_t *was; // its bytes in the input
    uint32_t n, lo, hi;
    bool own;
} buffer_t;

static buffer_t buffers[MZ_MAX_ARGS];
static uint8_t *input;
static uint32_t size, next;

static uint32_t take(uint32_t bytes) {
    uint32_t value = 0;
    if (size - next < bytes) {
        attack_exit(3);
    }
    for (uint32_t i = 0; i < bytes; ++i) {
        value |= (uint32_t)input[next++] << 8 * i;
    }
    return value;
}

static uint32_t crc(const uint8_t *data, uint32_t n) {
    uint32_t value = ~0u;
    for (uint32_t i = 0; i < n; ++i) {
        value ^= data[i];
        for (int bit = 0; bit < 8; ++bit) {
            value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
        }
    }
    return ~value;
}

static uint8_t answer[4 + 5 * MZ_MAX_ARGS];
static uint32_t answered;

static void put(uint32_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; ++i) {
        answer[answered++] = (uint8_t)(value >> 8 * i);
    }
}

// Whether the canaries around a buffer are as they were laid.
static bool beside(const buffer_t *b, bool lay) {
    uint8_t *low = (uint32_t)(b->at - b->room) > BESIDE ? b->at - BESIDE : b->room;
    uint8_t *end = b->room + ROOM, *high = b->at + b->n;
    uint8_t *stop = (uint32_t)(end - high) > BESIDE ? high + BESIDE : end;
    bool whole = true;
    for (uint8_t *p = low; p < stop; ++p) {
        if (p == b->at) {
            p = high;
            if (p >= stop) {
                break;
            }
        }
        if (lay) {
            *p = 0xA5;
        }
        whole &= *p == 0xA5;
    }
    return whole;
}

static void take_buffer(buffer_t *b, mz_arg_t *arg, uint32_t place) {
    arg->width = (int32_t)take(1);
    uint32_t odd = take(1);
    b->n = take(4);
    b->lo = take(4);
    b->hi = take(4);
    if (b->n > ROOM - 8 || size - next < b->n || b->lo > b->hi || b->hi > b->n) {
        attack_exit(3);
    }
    b->was = input + next;
    next += b->n;
    uint32_t at = place ? odd : ((ROOM - b->n - odd) & ~3u) + odd;
    b->at = b->room + at;
    b->own = true;
    memcpy(b->at, b->was, b->n);
    beside(b, true);
    arg->data = b->at;
    arg->n = (int32_t)b->n;
}

static void call(void) {
    uint32_t entry = take(1), place = take(1);
    if (entry >= sizeof table / sizeof table[0]) {
        attack_exit(3);
    }
    const row_t *row = &table[entry];
    mz_arg_t args[MZ_MAX_ARGS];
    memset(args, 0, sizeof args);
    bool guarded[MZ_MAX_ARGS]; // an r that no w shares
    int count = 0;
    for (; row->signature[count]; ++count) {
        buffer_t *b = &buffers[count];
        char letter = row->signature[count];
        b->own = false;
        guarded[count] = letter == 'r';
        if (letter == 'i') {
            args[count].n = (int32_t)take(4);
            continue;
        }
        uint32_t again = take(1);
        if (again) {
            args[count] = args[again - 1];
            guarded[again - 1] &= letter == 'r';
        } else {
            take_buffer(b, &args[count], place);
        }
    }
    for (int i = 0; i < count; ++i) {
        if (buffers[i].own && guarded[i]) {
            attack_protect(buffers[i].room, ROOM, 1);
        }
        if (buffers[i].own) {
            __asan_poison_memory_region(buffers[i].room, ROOM);
            __asan_unpoison_memory_region(buffers[i].at, buffers[i].n);
        }
    }
    int32_t result = mz_invoke(row->signature, row->function, args);
    put((uint32_t)result, 4);
    for (int i = 0; i < count; ++i) {
        buffer_t *b = &buffers[i];
        if (b->own) {
            attack_protect(b->room, ROOM, 3);
            __asan_unpoison_memory_region(b->room, ROOM);
            bool differs = false;
            for (uint32_t j = 0; j < b->n; ++j) {
                differs |= b->at[j] != b->was[j];
            }
            put(crc(b->at + b->lo, b->hi - b->lo), 4);
            put((uint32_t)differs | (uint32_t)!beside(b, false) << 1, 1);
        }
    }
    attack_write(answer, answered);
    answered = 0;
}

void attack_main(void) {
    for (int i = 0; i < MZ_MAX_ARGS; ++i) {
        uint8_t *map = attack_map(ROOM + 2 * PAGE);
        attack_protect(map, PAGE, 0);
        attack_protect(map + PAGE + ROOM, PAGE, 0);
        buffers[i].room = map + PAGE;
    }
    input = attack_map(MOST_INPUT);
    long some;
    while (size < MOST_INPUT && (some = attack_read(input + size, MOST_INPUT - size)) > 0) {
        size += (uint32_t)some;
    }
    while (next < size) {
        call();
    }
    attack_exit(0);
}
