#ifndef MZ_CRC_H
#define MZ_CRC_H

#include <stdint.h>

// CRC-32 (IEEE 802.3, reflected).
uint32_t mz_crc32(const uint8_t *data, int32_t n);

#endif
