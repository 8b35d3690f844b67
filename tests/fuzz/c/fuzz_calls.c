// libFuzzer's target: one call of the native API's table, out of the bytes of an input.
//
// Byte 0 chooses the entry. Then for every letter of its signature: i, an int32; r and w, a buffer:
// uint16 bytes, uint16 how many of them the input has (the others are 0), one byte of form: bits
// 0-1 the width of an item, bits 2-4 its distance from an aligned address, bit 7: the buffer before
// it once more. Whatever an input holds, an entry reads and writes inside its buffers, writes
// nothing to an r, and ends; the sanitizers and this file look that it does.
#include <stdlib.h>
#include <string.h>

#include "api.h"

typedef struct {
    const char *signature;
    mz_entry_t function;
} row_t;

static const row_t table[] = {
#define ROW(name, signature, function) {signature, function},
    MZ_API(ROW)
#undef ROW
};

typedef struct {
    const uint8_t *at;
    size_t left;
} input_t;

typedef struct {
    uint8_t *block; // what malloc gave: nothing but the distance lies before the buffer
    uint8_t *copy; // of what must not change
} buffer_t;

// The next `n` bytes of the input; zeros behind its end.
static void take(input_t *input, void *to, size_t n) {
    size_t some = n < input->left ? n : input->left;
    memset(to, 0, n);
    if (some) {
        memcpy(to, input->at, some);
    }
    input->at += some;
    input->left -= some;
}

static void take_buffer(input_t *input, mz_arg_t *arg, buffer_t *buffer) {
    uint16_t sizes[2];
    uint8_t form;
    take(input, sizes, sizeof sizes);
    take(input, &form, 1);
    size_t n = sizes[0];
    size_t distance = form >> 2 & 7;
    buffer->block = malloc(n + distance);
    if (buffer->block == NULL) {
        abort();
    }
    arg->width = 1 << (form & 3);
    arg->data = buffer->block + distance;
    arg->n = (int32_t)n;
    memset(buffer->block, 0, n + distance);
    take(input, arg->data, sizes[1] < n ? sizes[1] : n);
}

static bool is_again(const input_t *input) {
    return input->left > 4 && input->at[4] & 128;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input_t input = {data, size};
    uint8_t choice;
    take(&input, &choice, 1);
    const row_t *row = &table[choice % (sizeof table / sizeof table[0])];
    mz_arg_t args[MZ_MAX_ARGS] = {0};
    buffer_t buffers[MZ_MAX_ARGS] = {0};
    int n = (int)strlen(row->signature);
    int previous = -1;
    bool shared = false;
    for (int i = 0; i < n; ++i) {
        if (row->signature[i] == 'i') {
            take(&input, &args[i].n, 4);
            args[i].n += args[i].n == INT32_MIN; // no shell passes that one
        } else if (previous >= 0 && is_again(&input)) {
            uint8_t head[5];
            take(&input, head, sizeof head);
            args[i] = args[previous];
            shared = true;
        } else {
            take_buffer(&input, &args[i], &buffers[i]);
            previous = i;
        }
    }
    for (int i = 0; i < n && !shared; ++i) {
        if (row->signature[i] == 'r' && args[i].n) {
            buffers[i].copy = malloc((size_t)args[i].n);
            memcpy(buffers[i].copy, args[i].data, (size_t)args[i].n);
        }
    }
    int32_t status = mz_invoke(row->signature, row->function, args);
    if (status < 0 && mz_status_text(status) == NULL) {
        abort();
    }
    for (int i = 0; i < n; ++i) {
        if (buffers[i].copy != NULL && memcmp(buffers[i].copy, args[i].data, (size_t)args[i].n)) {
            abort();
        }
        free(buffers[i].copy);
        free(buffers[i].block);
    }
    return 0;
}
