#ifndef GPULUA_STDINT_H
#define GPULUA_STDINT_H
// Those of 64 bits are `long long`, as the toolkit's headers, and those of sources, declare them again for NVRTC.
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int_least8_t, int_fast8_t;
typedef short int_least16_t;
typedef int int_least32_t;
typedef long long int_least64_t, int_fast64_t;
typedef unsigned char uint_least8_t, uint_fast8_t;
typedef unsigned short uint_least16_t;
typedef unsigned int uint_least32_t;
typedef unsigned long long uint_least64_t, uint_fast64_t;
typedef short int_fast16_t;
typedef int int_fast32_t;
typedef unsigned short uint_fast16_t;
typedef unsigned int uint_fast32_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef long long intmax_t;
typedef unsigned long long uintmax_t;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MIN (-INT64_MAX - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define INTPTR_MAX INT64_MAX
#define INTPTR_MIN INT64_MIN
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MAX INT64_MAX
#define INTMAX_MIN INT64_MIN
#define UINTMAX_MAX UINT64_MAX
#define SIZE_MAX 18446744073709551615UL
#define INT8_C(value) value
#define INT16_C(value) value
#define INT32_C(value) value
#define UINT8_C(value) value
#define UINT16_C(value) value
#define UINT32_C(value) value##U
#define INT64_C(value) value##LL
#define UINT64_C(value) value##ULL
namespace std {
using ::int16_t; using ::int32_t; using ::int64_t; using ::int8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uint8_t;
using ::int_fast16_t; using ::int_fast32_t; using ::int_fast64_t; using ::int_fast8_t;
using ::uint_fast16_t; using ::uint_fast32_t; using ::uint_fast64_t; using ::uint_fast8_t;
using ::int_least16_t; using ::int_least32_t; using ::int_least64_t; using ::int_least8_t;
using ::uint_least16_t; using ::uint_least32_t; using ::uint_least64_t; using ::uint_least8_t;
using ::intmax_t; using ::intptr_t; using ::uintmax_t; using ::uintptr_t;
}  // namespace std
#endif
