// Runs a case file of tests/kernels (see caseformat.py) on a bare core, as device_runner.py
// does on MicroPython. Checks that belong to a shell (types, None) are passed over.
#include <string.h>

#include "api.h"
#include "target.h"

enum { OK, VALUE_ERROR, TYPE_ERROR, ANY, MAYBE };

#define GUARD 16

typedef struct {
    const char *name;
    const char *signature;
    mz_entry_t function;
} row_t;

static const row_t table[] = {
#define ROW(name, signature, function) {#name, signature, function},
    MZ_API(ROW)
#undef ROW
};

static uint8_t heap[1536 * 1024] __attribute__((aligned(16)));
static uint32_t crc_table[256];
static const uint8_t *at;

static void make_crc_table(void) {
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t v = i;
        for (int j = 0; j < 8; ++j) {
            v = v & 1 ? 0xedb88320 ^ (v >> 1) : v >> 1;
        }
        crc_table[i] = v;
    }
}

static uint32_t crc30(const uint8_t *data, uint32_t lo, uint32_t hi) {
    uint32_t v = 0xffffffff;
    for (uint32_t i = lo; i < hi; ++i) {
        v = crc_table[(v ^ data[i]) & 255] ^ (v >> 8);
    }
    return ~v & 0x3fffffff;
}

static uint32_t word(void) {
    uint32_t v;
    memcpy(&v, at, 4);
    at += 4;
    return v;
}

static void number(uint32_t v) {
    char text[12];
    char *to = text + 11;
    *to = 0;
    do {
        *--to = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    target_write(to);
}

typedef struct {
    uint8_t *data;
    uint32_t length, lo, hi, crc, before;
    int guarded;
} buffer_t;

// A bad call may have one more.
static buffer_t buffers[MZ_MAX_ARGS + 1];
static mz_arg_t args[MZ_MAX_ARGS + 1];

// Reads one argument; false if only a shell could see what is wrong with it.
static int read_arg(int i, char letter, uint8_t **top) {
    buffer_t *buffer = &buffers[i];
    char tag = (char)*at++;
    buffer->data = NULL;
    args[i].data = NULL;
    args[i].n = 0;
    args[i].width = 0;
    if (tag == '#') {
        uint32_t low = word();
        uint32_t high = word();
        args[i].n = (int32_t)low;
        return letter == 'i' && high == (uint32_t)((int32_t)low >> 31);
    }
    if (tag == '@') {
        args[i] = args[*at++];
        return letter != 'i';
    }
    if (tag == '0' || tag == '.') {
        return 0;
    }
    buffer->length = word();
    buffer->lo = word();
    buffer->hi = word();
    buffer->crc = word();
    buffer->guarded = tag == 'M' || tag == 'U';
    uint8_t *to = (uint8_t *)(((uintptr_t)*top + 15) & ~(uintptr_t)15);
    if (buffer->guarded) {
        uint32_t shift = tag == 'U';
        memset(to, 0xa5, buffer->length + 2 * GUARD + shift);
        to += GUARD + shift;
    }
    memcpy(to, at, buffer->length);
    at += buffer->length;
    *top = to + buffer->length + GUARD;
    buffer->data = to;
    buffer->before = crc30(to, 0, buffer->length);
    args[i].data = to;
    args[i].n = (int32_t)buffer->length;
    args[i].width = tag == 'h' || tag == 'H' ? 2 : tag == 'i' ? 4 : tag == 'q' ? 8 : 1;
    return letter != 'i' && !(tag == 'R' && letter == 'w');
}

static const char *check_buffers(int count, int outcome, int expect) {
    for (int i = 0; i < count; ++i) {
        const buffer_t *b = &buffers[i];
        if (b->data == NULL) {
            continue;
        }
        for (int j = 0; b->guarded && j < GUARD; ++j) {
            if (b->data[j - GUARD] != 0xa5 || b->data[b->length + (uint32_t)j] != 0xa5) {
                return "wrote outside an argument";
            }
        }
        if (outcome != OK && crc30(b->data, 0, b->length) != b->before) {
            return "raised but changed an argument";
        }
        if (outcome == OK && expect == OK && crc30(b->data, b->lo, b->hi) != b->crc) {
            return "an argument differs";
        }
    }
    return NULL;
}

static const char *run_case(void) {
    char name[32] = {0};
    uint8_t *top = heap;
    int length = *at++;
    memcpy(name, at, (size_t)length);
    at += length;
    int expect = *at++;
    int32_t value = (int32_t)word();
    int count = *at++;
    const row_t *row = table;
    while (strcmp(row->name, name) != 0) {
        ++row;
    }
    int callable = count == (int)strlen(row->signature);
    for (int i = 0; i < count; ++i) {
        callable &= read_arg(i, i < (int)strlen(row->signature) ? row->signature[i] : '?', &top);
    }
    if (!callable) {
        return NULL;
    }
    int32_t status = mz_invoke(row->signature, row->function, args);
    int outcome = status >= 0 ? OK : status == MZ_E_TYPE ? TYPE_ERROR : VALUE_ERROR;
    if (expect == MAYBE) {
        expect = outcome == VALUE_ERROR ? VALUE_ERROR : OK;
    }
    const char *bad = check_buffers(count, outcome, expect);
    if (bad == NULL && expect != ANY && outcome != expect) {
        bad = "the wrong outcome";
    }
    if (bad == NULL && expect == OK && status != value) {
        bad = "the wrong result";
    }
    if (bad != NULL) {
        target_write(name);
        target_write(": ");
    }
    return bad;
}

int main(void) {
    uint32_t bad = 0;
    make_crc_table();
    at = target_image + 4;
    uint32_t cases = at[0] | (uint32_t)at[1] << 8;
    at += 2;
    for (uint32_t i = 0; i < cases; ++i) {
        const char *mismatch = run_case();
        if (mismatch != NULL) {
            target_write(mismatch);
            target_write(" MISMATCH ");
            number(i);
            target_write("\n");
            ++bad;
        }
    }
    target_write("DONE ");
    number(cases);
    target_write(" ");
    number(bad);
    target_write("\n");
    return 0;
}
