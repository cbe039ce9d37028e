/* What is asked of columns before rows are made: how large numbers are, where they lie, who has none.

   All of these are sums of whole numbers, each a function of one entry and of public constants, or of one person's
   entries: the same bits in any order, and as in NumPy. No branch depends on an entry. */

#include <math.h>
#include <string.h>

#include "kernels.h"

#define PART 4096 /* entries whose whole numbers, 2^14 at most, are added up in 32 bits */
#define SIZES 102 /* octaves from 2^-30 on, of negative numbers and of positive ones; zero is between them */
#define ABSENT (2 * SIZES + 1)
#define PLACES 16 /* parts of a window, and one for what is outside */
#define TALLEST 1024
#define STRIP ((size_t)1 << 19) /* bytes that stay in the cache */

INLINE int32_t size_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int32_t octave = (int32_t)((bits >> 52) & 0x7ff) - 1022 + 30;
    const int32_t low = octave > 0 ? octave : 0, place = low < SIZES ? low : SIZES - 1;
    const int32_t other = x == x ? SIZES : ABSENT;
    return x > 0 ? SIZES + 1 + place : x < 0 ? SIZES - 1 - place : other;
}

INLINE int32_t place_of(double x, double centre, double window)
{
    const double place = ((x - centre) / window + 1) * (PLACES / 2);
    return place >= 0 && place < PLACES ? (int32_t)place : PLACES;
}

INLINE int32_t share_of(double x, double centre, double window)
{
    const double share = (x - centre) / window, above = share > -1 ? share : -1, inside = above < 1 ? above : 1;
    return x == x ? (int32_t)(inside * 512) : 0;
}

INLINE int32_t distance_of(double x, double centre, double window)
{
    const double distance = fabs((x - centre) / window), inside = distance < 1 ? distance : 1;
    return x == x ? (int32_t)(inside * 1024) : 0;
}

/* Histograms: places are found side by side, then counted one by one. */
#define HISTOGRAM(place)                                                                                           \
    for (size_t first = 0; first < people; first += PART) {                                                        \
        const size_t size = people - first < PART ? people - first : PART;                                         \
        int32_t places[PART];                                                                                      \
        for (size_t i = 0; i < size; i++)                                                                          \
            places[i] = place;                                                                                     \
        for (size_t i = 0; i < size; i++)                                                                          \
            out[places[i]]++;                                                                                      \
    }

#define LOOK(type)                                                                                                 \
    INLINE void look_##type(const type *x, size_t people, int what, double centre, double window, int64_t *out)    \
    {                                                                                                              \
        if (what == LOOK_SIZES) {                                                                                  \
            HISTOGRAM(size_of((double)x[first + i]))                                                               \
            return;                                                                                                \
        }                                                                                                          \
        if (what == LOOK_PLACES) {                                                                                 \
            HISTOGRAM(place_of((double)x[first + i], centre, window))                                              \
            return;                                                                                                \
        }                                                                                                          \
        for (size_t first = 0; first < people; first += PART) {                                                    \
            const size_t last = people - first < PART ? people : first + PART;                                     \
            int32_t sum = 0, present = 0;                                                                          \
            if (what == LOOK_MEANS)                                                                                \
                for (size_t i = first; i < last; i++) {                                                            \
                    sum += share_of((double)x[i], centre, window);                                                 \
                    present += x[i] == x[i];                                                                       \
                }                                                                                                  \
            else                                                                                                   \
                for (size_t i = first; i < last; i++)                                                              \
                    sum += distance_of((double)x[i], centre, window);                                              \
            out[0] += sum;                                                                                         \
            if (what == LOOK_MEANS)                                                                                \
                out[1] += present;                                                                                 \
        }                                                                                                          \
    }

LOOK(float)
LOOK(double)

size_t look_width(int what)
{
    return what == LOOK_SIZES ? ABSENT + 1 : what == LOOK_PLACES ? PLACES + 1 : what == LOOK_MEANS ? 2 : 1;
}

INLINE void look_at_body(const entries *from, const int64_t *columns, const lens *through, int64_t *out)
{
    const size_t width = look_width(through->what);
    for (size_t k = through->first; k < through->last; k++) {
        const size_t place = (size_t)columns[k] * from->people;
        const double centre = through->centre[k], window = through->window[k];
        if (from->kind == 4)
            look_float((const float *)from->at + place, from->people, through->what, centre, window, out + k * width);
        else
            look_double((const double *)from->at + place, from->people, through->what, centre, window, out + k * width);
    }
}

static size_t lacking_height(size_t count)
{
    const size_t fit = STRIP / (count ? count : 1) / 64 * 64;
    return fit < 64 ? 64 : fit > TALLEST ? TALLEST : fit;
}

size_t lacking_memory(size_t count)
{
    return lacking_height(count) * (count ? count : 1);
}

/* Who lacks what is noted in a byte for each entry, which stay in the processor's cache until they are weighed. */
#define LACK(type)                                                                                                 \
    INLINE void lack_##type(const entries *from, const int64_t *columns, size_t count, const int8_t *group,        \
                            double norm, double unit, uint8_t *lacks, int64_t *sums)                               \
    {                                                                                                              \
        const size_t height = lacking_height(count);                                                               \
        int32_t many[TALLEST], all[TALLEST], second[TALLEST];                                                      \
        for (size_t first = from->first; first < from->last; first += height) {                                    \
            const size_t size = from->last - first < height ? from->last - first : height;                         \
            memset(many, 0, sizeof many);                                                                          \
            for (size_t k = 0; k < count; k++) {                                                                   \
                const type *x = (const type *)from->at + (size_t)columns[k] * from->people + first;                \
                uint8_t *lack = lacks + k * height;                                                                \
                for (size_t i = 0; i < size; i++) {                                                                \
                    const int32_t none = x[i] != x[i];                                                             \
                    many[i] += none;                                                                               \
                    lack[i] = (uint8_t)none;                                                                       \
                }                                                                                                  \
            }                                                                                                      \
            for (size_t i = 0; i < size; i++) {                                                                    \
                const double squared = many[i] > norm * norm ? many[i] : norm * norm;                              \
                all[i] = (int32_t)(unit * norm / sqrt(squared)) & -(group[first + i] >= 0);                        \
                second[i] = all[i] & -(group[first + i] == 1);                                                     \
            }                                                                                                      \
            for (size_t k = 0; k < count; k++) {                                                                   \
                const uint8_t *lack = lacks + k * height;                                                          \
                int32_t both = 0, other = 0;                                                                       \
                for (size_t i = 0; i < size; i++) {                                                                \
                    const int32_t mask = -(int32_t)lack[i];                                                        \
                    both += all[i] & mask;                                                                         \
                    other += second[i] & mask;                                                                     \
                }                                                                                                  \
                sums[k] += both;                                                                                   \
                sums[count + k] += other;                                                                          \
            }                                                                                                      \
        }                                                                                                          \
    }

LACK(float)
LACK(double)

INLINE void sum_lacking_body(const entries *from, const int64_t *columns, size_t count, const int8_t *group,
                             double norm, double unit, uint8_t *lacks, int64_t *sums)
{
    if (from->kind == 4)
        lack_float(from, columns, count, group, norm, unit, lacks, sums);
    else
        lack_double(from, columns, count, group, norm, unit, lacks, sums);
}

#ifdef SEVERAL_PROCESSORS
WITH_AVX2 static void look_at_avx2(const entries *from, const int64_t *columns, const lens *through, int64_t *out)
{
    look_at_body(from, columns, through, out);
}

WITH_AVX512 static void look_at_avx512(const entries *from, const int64_t *columns, const lens *through, int64_t *out)
{
    look_at_body(from, columns, through, out);
}

WITH_AVX2 static void sum_lacking_avx2(const entries *from, const int64_t *columns, size_t count, const int8_t *group,
                                       double norm, double unit, uint8_t *lacks, int64_t *sums)
{
    sum_lacking_body(from, columns, count, group, norm, unit, lacks, sums);
}

WITH_AVX512 static void sum_lacking_avx512(const entries *from, const int64_t *columns, size_t count,
                                           const int8_t *group, double norm, double unit, uint8_t *lacks, int64_t *sums)
{
    sum_lacking_body(from, columns, count, group, norm, unit, lacks, sums);
}
#endif

void look_at(const entries *from, const int64_t *columns, const lens *through, int64_t *out)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX512) {
        look_at_avx512(from, columns, through, out);
        return;
    }
    if (HAS_AVX2) {
        look_at_avx2(from, columns, through, out);
        return;
    }
#endif
    look_at_body(from, columns, through, out);
}

void sum_lacking(const entries *from, const int64_t *columns, size_t count, const int8_t *group, double norm,
                 double unit, uint8_t *lacks, int64_t *sums)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX512) {
        sum_lacking_avx512(from, columns, count, group, norm, unit, lacks, sums);
        return;
    }
    if (HAS_AVX2) {
        sum_lacking_avx2(from, columns, count, group, norm, unit, lacks, sums);
        return;
    }
#endif
    sum_lacking_body(from, columns, count, group, norm, unit, lacks, sums);
}
