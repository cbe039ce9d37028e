/* Sums of weight * dose over packed genotypes. Codes: 00 two first alleles, 10 one, 11 none, 01 no call; so the
   dose is 0 where the low bit is set, else 1, and one more where the high bit is not set either. */

#include "kernels.h"

#define PART 32768 /* bytes whose sums fit 32 bits: 4 people each, weights up to 2^12, doses up to 2 */

INLINE void sum_doses_body(const uint8_t *packed, size_t rows, size_t stride, const int32_t *weights, int64_t *sums)
{
    for (size_t row = 0; row < rows; row++) {
        const uint8_t *data = packed + row * stride;
        int64_t total = 0;
        for (size_t first = 0; first < stride; first += PART) {
            const size_t last = stride - first < PART ? stride : first + PART;
            int32_t sum = 0;
            for (size_t i = first; i < last; i++) {
                for (int person = 0; person < 4; person++) {
                    const int32_t code = data[i] >> (2 * person);
                    /* All ones, or zero: a mask in place of a branch. */
                    const int32_t called = (code & 1) - 1, twice = ((code >> 1) & 1) - 1;
                    const int32_t weight = weights[(size_t)person * stride + i] & called;
                    sum += weight + (weight & twice);
                }
            }
            total += sum;
        }
        sums[row] = total;
    }
}

#ifdef SEVERAL_PROCESSORS
WITH_AVX2 static void sum_doses_avx2(const uint8_t *packed, size_t rows, size_t stride, const int32_t *weights,
                                     int64_t *sums)
{
    sum_doses_body(packed, rows, stride, weights, sums);
}
#endif

void sum_doses(const uint8_t *packed, size_t rows, size_t stride, const int32_t *weights, int64_t *sums)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX2) {
        sum_doses_avx2(packed, rows, stride, weights, sums);
        return;
    }
#endif
    sum_doses_body(packed, rows, stride, weights, sums);
}
