/* Scores plus noise, as the contest sees them: first by one word of each uniform, which rules out nearly all; then, of
   those who may be among the largest, by eighty bits.

   The first two loops round each step as NumPy does beside their callers, so they rule out the same items. The third
   has a logarithm of its own, whose error the bounds on the noise allow for: whoever computes them, they enclose the
   same numbers. */

#include <math.h>
#include <string.h>

#include "kernels.h"

#define RANGE 0x1p40 /* as in drawn.py */
#define SHIFT 6      /* leaves ten bits of a word */
#define ULPS 0x1p-44 /* these two as in contest.py */
#define LEVEL_ULPS 0x1p-50

/* A score in units of the noise, clipped; NaN is at the bottom. */
INLINE double level_of(double score, double scale)
{
    const double level = score / scale, above = level > -RANGE ? level : -RANGE;
    return above < RANGE ? above : RANGE;
}

INLINE void lower_ends_body(const contestants *who, const double *APART least, double *APART lower)
{
    const double *APART scores = who->scores;
    const uint16_t *APART words = who->words;
    const double scale = who->scale;
    for (size_t i = 0; i < who->count; i++)
        lower[i] = level_of(scores[i], scale) + least[words[i] >> SHIFT];
}

size_t reaching(const double *lower, const uint16_t *words, size_t count, const double *needed, int64_t *places)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        places[found] = (int64_t)i; /* the next one overwrites it unless it counts: nothing to guess */
        found += lower[i] >= needed[words[i] >> SHIFT];
    }
    return found;
}

/* log x for normal x > 0, off by less than 2^-48 of itself. x = 2^power * part with part near 1, log part is
   2 artanh((part - 1)/(part + 1)), and after eleven terms of its series less than 2^-55 is left. */
INLINE double log_of(double x)
{
    const uint64_t least = 0x3fe6a09e667f3bcd; /* the bits of sqrt(1/2) */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int64_t power = (int64_t)(bits - least) >> 52;
    bits -= (uint64_t)power << 52;
    double part;
    memcpy(&part, &bits, sizeof part);
    const double s = (part - 1) / (part + 1), z = s * s;
    double sum = 1.0 / 21;
    for (int odd = 19; odd > 0; odd -= 2)
        sum = sum * z + 1.0 / odd;
    return (double)power * 0x1.62e42fefa39efp-1 + 2 * s * sum;
}

INLINE void noisy_body(const contestants *who, const uint64_t *APART low, int gumbel, double *APART key)
{
    const double *APART scores = who->scores;
    const uint16_t *APART high = who->words;
    const size_t count = who->count;
    const double scale = who->scale;
    for (size_t i = 0; i < count; i++) {
        const double level = level_of(scores[i], scale);
        const double v = (double)high[i] * 0x1p-16 + ((double)low[i] + 0.5) * 0x1p-80;
        const double w = (double)(65535 - high[i]) * 0x1p-16 + ((double)~low[i] + 0.5) * 0x1p-80;
        const double tail = v < w ? v : w;
        double noise;
        if (gumbel) /* -log(-log(1 - v)): near 1, w lacks digits of v, and log(w)/(w - 1) hardly changes */
            noise = -log_of(w < 1 ? log_of(w) / (w - 1) * v : v);
        else
            noise = (v <= 0.5 ? -1 : 1) * log_of(2 * tail);
        const double doubt = tail < 0x1p-76 ? INFINITY : 0x1p-78 / tail;
        const double slack = ULPS * (8 + fabs(noise)) + LEVEL_ULPS * fabs(level) + doubt;
        key[i] = level + noise;
        key[count + i] = key[i] - slack;
        key[2 * count + i] = key[i] + slack;
    }
}

#ifdef SEVERAL_PROCESSORS
WITH_AVX2 static void lower_ends_avx2(const contestants *who, const double *least, double *lower)
{
    lower_ends_body(who, least, lower);
}

WITH_AVX512 static void lower_ends_avx512(const contestants *who, const double *least, double *lower)
{
    lower_ends_body(who, least, lower);
}

WITH_AVX512 static void noisy_avx512(const contestants *who, const uint64_t *low, int gumbel, double *bounds)
{
    noisy_body(who, low, gumbel, bounds);
}
#endif

void lower_ends(const contestants *who, const double *least, double *lower)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX512) {
        lower_ends_avx512(who, least, lower);
        return;
    }
    if (HAS_AVX2) {
        lower_ends_avx2(who, least, lower);
        return;
    }
#endif
    lower_ends_body(who, least, lower);
}

void noisy(const contestants *who, const uint64_t *low, int gumbel, double *bounds)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX512) {
        noisy_avx512(who, low, gumbel, bounds);
        return;
    }
#endif
    noisy_body(who, low, gumbel, bounds);
}
