/* Columns summed in one pass: each value made a whole number by a public rule, weighted, added up.

   A value is counted in double precision whatever its column holds. No step is left to the compiler's choice of
   order or precision, and sums are whole numbers below 2^53, which a double holds: every machine, and NumPy, comes
   to the same bits. */

#include <float.h>
#include <math.h>

#include "kernels.h"

#if FLT_EVAL_METHOD != 0
#error "this processor rounds doubles otherwise than NumPy does: the kernels are left out"
#endif

#define TILE 1024 /* values made whole at a time: they stay in the fastest cache while they are added up */
#define LANES 16  /* sums side by side, which compilers keep in vectors */

/* round((value - low) * factor) inside 0..most, or what a missing value counts as. */
INLINE void scale(double *values, size_t size, const double *rule)
{
    const double low = rule[0], factor = rule[1], most = rule[2], missing = rule[3];
    for (size_t i = 0; i < size; i++) {
        const double rounded = rint((values[i] - low) * factor);
        const double above = rounded > 0 ? rounded : 0;
        const double clipped = above < most ? above : most;
        values[i] = rounded == rounded ? clipped : missing;
    }
}

/* 1 above `up`, -1 below `down`, 0 between them or where the value is missing. */
INLINE void step(double *values, size_t size, const double *rule)
{
    const double up = rule[0], down = rule[1];
    for (size_t i = 0; i < size; i++)
        values[i] = (values[i] > up ? 1.0 : 0.0) - (values[i] < down ? 1.0 : 0.0);
}

INLINE double weighted(const double *whole, const float *weight, size_t size)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= size; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += whole[i + j] * (double)weight[i + j];
    for (; i < size; i++)
        sum += whole[i] * (double)weight[i];
    for (size_t j = 0; j < LANES; j++)
        sum += lane[j];
    return sum;
}

INLINE void sum_column_body(const column *values, const people *rows, double *sums)
{
    double whole[TILE];
    for (size_t first = 0; first < rows->count; first += TILE) {
        const size_t size = rows->count - first < TILE ? rows->count - first : TILE;
        const float *weight = rows->weights + first;
        for (size_t i = 0; i < size; i++)
            whole[i] = values->doubles ? ((const double *)values->values)[first + i]
                                       : (double)((const float *)values->values)[first + i];
        if (values->steps)
            step(whole, size, values->rule);
        else
            scale(whole, size, values->rule);
        for (size_t cell = 0; cell < rows->cells; cell++)
            sums[cell] += weighted(whole, weight + cell * rows->count, size);
        if (!rows->squared)
            continue;
        for (size_t i = 0; i < size; i++)
            whole[i] *= whole[i];
        for (size_t cell = 0; cell < rows->cells; cell++)
            sums[rows->cells + cell] += weighted(whole, weight + cell * rows->count, size);
    }
}

#ifdef SEVERAL_PROCESSORS
WITH_AVX2 static void sum_column_avx2(const column *values, const people *rows, double *sums)
{
    sum_column_body(values, rows, sums);
}
#endif

void sum_column(const column *values, const people *rows, double *sums)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX2) {
        sum_column_avx2(values, rows, sums);
        return;
    }
#endif
    sum_column_body(values, rows, sums);
}
