#include "crc.h"

uint32_t mz_crc32(const uint8_t *data, int32_t n) {
    // A table on the stack: static tables break on some loaders, 16 entries are soon made.
    uint32_t table[16];
    for (uint32_t i = 0; i < 16; ++i) {
        uint32_t v = i;
        for (int32_t bit = 0; bit < 4; ++bit) {
            v = (v >> 1) ^ (v & 1 ? 0xedb88320u : 0);
        }
        table[i] = v;
    }
    uint32_t crc = ~(uint32_t)0;
    for (int32_t i = 0; i < n; ++i) {
        crc ^= data[i];
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return ~crc;
}
