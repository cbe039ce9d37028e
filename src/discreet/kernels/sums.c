/* Columns summed in one pass: each value made a whole number by a public rule, weighted, added up. */

#include <math.h>

#include "kernels.h"

#define TILE 1024 /* values made whole at a time: they stay in the fastest cache while they are added up */
#define LANES 16

#define rint_f32 rintf
#define rint_f64 rint

#define REAL float
#define NAME(x) x##_f32
#include "sum_column.h"
#undef REAL
#undef NAME

#define REAL double
#define NAME(x) x##_f64
#include "sum_column.h"
#undef REAL
#undef NAME

INLINE void sum_column_body(const column *values, const people *rows, double *sums)
{
    if (values->doubles)
        sum_body_f64(values, rows, sums);
    else
        sum_body_f32(values, rows, sums);
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
