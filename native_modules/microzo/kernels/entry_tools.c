// Entries without a network: random numbers, checksums, requantization.
#include "crc.h"
#include "entry.h"
#include "requant.h"
#include "rng.h"

#define DERIVE_LIMIT (1 << 28)

int32_t mz_api_signs(const mz_arg_t *args) {
    if (!mz_seed_ok(args[0].n) || args[1].n < 0 || args[2].n < 0 || args[3].n < 1) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_need(&args[4], args[3].n, 1));
    mz_stream_t stream = mz_stream(args[0].n, (uint32_t)args[1].n);
    mz_signs(stream, args[2].n, args[3].n, (int8_t *)args[4].data);
    return MZ_OK;
}

int32_t mz_api_derive(const mz_arg_t *args) {
    if (!mz_seed_ok(args[0].n) || !mz_within(args[1].n, 0, DERIVE_LIMIT - 1)
        || !mz_within(args[2].n, 0, DERIVE_LIMIT - 1)) {
        return MZ_E_RANGE;
    }
    return mz_derive(args[0].n, args[1].n, args[2].n);
}

int32_t mz_api_shuffle(const mz_arg_t *args) {
    if (!mz_seed_ok(args[0].n)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_need(&args[1], 0, 2));
    if (args[1].n % 2 || args[1].n > 2 * 65536) {
        return MZ_E_LENGTH;
    }
    mz_shuffle(args[0].n, (uint16_t *)(void *)args[1].data, args[1].n / 2);
    return MZ_OK;
}

int32_t mz_api_crc32(const mz_arg_t *args) {
    MZ_TRY(mz_need(&args[0], 0, args[0].width));
    int32_t start = args[1].n;
    int32_t end = args[2].n;
    if (!mz_within(end, 0, args[0].n) || !mz_within(start, 0, end)) {
        return MZ_E_RANGE;
    }
    return (int32_t)(mz_crc32(args[0].data + start, end - start) & 0x3fffffff);
}

static int32_t need_seal(const mz_arg_t *args) {
    MZ_TRY(mz_need(&args[0], 0, 1));
    if (args[1].n < 0) {
        return MZ_E_RANGE;
    }
    return (int64_t)args[1].n + 4 <= args[0].n ? MZ_OK : MZ_E_LENGTH;
}

int32_t mz_api_seal(const mz_arg_t *args) {
    MZ_TRY(need_seal(args));
    uint8_t *at = args[0].data + args[1].n;
    uint32_t crc = mz_crc32(args[0].data, args[1].n);
    for (int32_t i = 0; i < 4; ++i) {
        at[i] = (uint8_t)(crc >> (8 * i));
    }
    return MZ_OK;
}

int32_t mz_api_check_seal(const mz_arg_t *args) {
    MZ_TRY(need_seal(args));
    const uint8_t *at = args[0].data + args[1].n;
    uint32_t crc = mz_crc32(args[0].data, args[1].n);
    uint32_t stored = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return crc == stored;
}

int32_t mz_api_requant(const mz_arg_t *args) {
    MZ_TRY(mz_need(&args[0], 0, 4));
    if (args[0].n % 4) {
        return MZ_E_LENGTH;
    }
    if (!mz_mult_ok(args[1].n) || !mz_shift_ok(args[2].n)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_need(&args[3], args[0].n, 4));
    for (int32_t i = 0; i < args[0].n / 4; ++i) {
        mz_out(&args[3])[i] = mz_requant(mz_ints(&args[0])[i], args[1].n, args[2].n);
    }
    return MZ_OK;
}
