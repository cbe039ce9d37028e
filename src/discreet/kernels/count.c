/* Genotypes counted where they lie packed, two bits a person: 00 two first alleles, 10 one, 11 none, 01 no call.

   With low and high for the two bits of everyone in a group, the four counts follow from three: how often low is
   set, how often high is, and how often both are. */

#include <string.h>

#include "kernels.h"

typedef struct {
    int64_t low, high, both;
} bits;

/* Without an instruction that counts bits in vectors: each of the three is one bit in every pair of bits, so three
   vectors can be added before a pair overflows; pairs are then added into bytes, and bytes into the total. */

#if defined(__GNUC__)
typedef uint64_t vector __attribute__((vector_size(32)));
#else
typedef uint64_t vector; /* the same operators work on a single word */
#endif

#define WORDS (sizeof(vector) / 8)
#define TRIPLES 21 /* before bytes are added up: a byte then holds at most 21 * 12 = 252 */
#define EVERY_BYTE(x) (UINT64_C(0x0101010101010101) * (x))

/* Add up the four pairs of bits in each byte, each a number up to 3. */
#define ADD_PAIRS(sums, pairs)                                                                                     \
    do {                                                                                                           \
        vector nibbles = ((pairs) & EVERY_BYTE(0x33)) + (((pairs) >> 2) & EVERY_BYTE(0x33));                       \
        (sums) += (nibbles & EVERY_BYTE(0x0f)) + ((nibbles >> 4) & EVERY_BYTE(0x0f));                              \
    } while (0)

INLINE int64_t add_bytes(const vector *bytes)
{
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff), ones = UINT64_C(0x0001000100010001);
    uint64_t words[WORDS];
    int64_t sum = 0;
    memcpy(words, bytes, sizeof words);
    for (size_t i = 0; i < WORDS; i++)
        sum += (int64_t)((((words[i] & even) + ((words[i] >> 8) & even)) * ones) >> 48);
    return sum;
}

INLINE void add_triples(const uint8_t *row, const uint8_t *mask, size_t triples, bits *found)
{
    while (triples > 0) {
        const size_t some = triples < TRIPLES ? triples : TRIPLES;
        const vector zero = {0};
        vector low = zero, high = zero, both = zero;
        for (size_t i = 0; i < some; i++) {
            vector low3 = zero, high3 = zero, both3 = zero;
            for (int j = 0; j < 3; j++) {
                vector pairs, members;
                memcpy(&pairs, row, sizeof pairs);
                memcpy(&members, mask, sizeof members);
                low3 += pairs & members;
                high3 += (pairs >> 1) & members;
                both3 += (pairs >> 1) & pairs & members;
                row += sizeof pairs;
                mask += sizeof members;
            }
            ADD_PAIRS(low, low3);
            ADD_PAIRS(high, high3);
            ADD_PAIRS(both, both3);
        }
        found->low += add_bytes(&low);
        found->high += add_bytes(&high);
        found->both += add_bytes(&both);
        triples -= some;
    }
}

INLINE bits bits_by_pairs(const uint8_t *row, const uint8_t *mask, size_t stride)
{
    const size_t whole = stride / (3 * sizeof(vector)), done = whole * 3 * sizeof(vector);
    uint8_t row_end[3 * sizeof(vector)] = {0}, mask_end[3 * sizeof(vector)] = {0};
    bits found = {0, 0, 0};
    add_triples(row, mask, whole, &found);
    memcpy(row_end, row + done, stride - done);
    memcpy(mask_end, mask + done, stride - done);
    add_triples(row_end, mask_end, 1, &found);
    return found;
}

/* Everything a kernel does beside counting the bits of one row. */
#define COUNT(bits_of)                                                                                             \
    for (size_t cell = 0; cell < members.cells; cell++) {                                                           \
        const uint8_t *mask = (const uint8_t *)(members.masks + cell * members.words);                               \
        const int64_t everyone = bits_of(mask, mask, stride).low; /* the mask has every member's low bit */         \
        for (size_t row = 0; row < rows; row++) {                                                                  \
            const bits found = bits_of(packed + row * stride, mask, stride);                                       \
            int32_t *out = counts.at + 4 * cell * counts.width + row;                                              \
            out[0] = (int32_t)found.both;                                                                          \
            out[counts.width] = (int32_t)(found.high - found.both);                                                \
            out[2 * counts.width] = (int32_t)(everyone - found.low - found.high + found.both);                      \
            out[3 * counts.width] = (int32_t)(found.low - found.both);                                             \
        }                                                                                                          \
    }

static void count_plain(const uint8_t *packed, size_t rows, size_t stride, groups members, table counts)
{
    COUNT(bits_by_pairs)
}

#ifdef SEVERAL_PROCESSORS

WITH_AVX2 static void count_avx2(const uint8_t *packed, size_t rows, size_t stride, groups members, table counts)
{
    COUNT(bits_by_pairs)
}

/* Where the processor counts the bits of eight words at once, twice as fast: a loop that compilers widen. */
INLINE bits bits_by_popcount(const uint8_t *row, const uint8_t *mask, size_t stride)
{
    uint64_t low = 0, high = 0, both = 0;
    for (size_t i = 0; i < stride / 8; i++) {
        uint64_t pairs, members;
        memcpy(&pairs, row + 8 * i, 8);
        memcpy(&members, mask + 8 * i, 8);
        low += (uint64_t)__builtin_popcountll(pairs & members);
        high += (uint64_t)__builtin_popcountll((pairs >> 1) & members);
        both += (uint64_t)__builtin_popcountll((pairs >> 1) & pairs & members);
    }
    const size_t done = stride / 8 * 8;
    uint64_t pairs = 0, members = 0;
    memcpy(&pairs, row + done, stride - done);
    memcpy(&members, mask + done, stride - done);
    low += (uint64_t)__builtin_popcountll(pairs & members);
    high += (uint64_t)__builtin_popcountll((pairs >> 1) & members);
    both += (uint64_t)__builtin_popcountll((pairs >> 1) & pairs & members);
    return (bits){(int64_t)low, (int64_t)high, (int64_t)both};
}

WITH_VECTOR_POPCOUNT static void count_popcount(const uint8_t *packed, size_t rows, size_t stride, groups members,
                                                table counts)
{
    COUNT(bits_by_popcount)
}

#endif

void count_genotypes(const uint8_t *packed, size_t rows, size_t stride, groups members, table counts)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_VECTOR_POPCOUNT) {
        count_popcount(packed, rows, stride, members, counts);
        return;
    }
    if (HAS_AVX2) {
        count_avx2(packed, rows, stride, members, counts);
        return;
    }
#endif
    count_plain(packed, rows, stride, members, counts);
}
