/* Included by sums.c once for each precision: REAL is float or double, NAME(x) adds its name to x.

   No step is left to the compiler's choice of order or precision, and a sum is one of whole numbers below 2^53,
   which a double holds: every machine, and NumPy, comes to the same bits. */

/* round((value - low) * factor) inside 0..most, or what a missing value counts as. */
INLINE void NAME(scale)(const REAL *values, size_t size, const REAL *rule, REAL *whole)
{
    const REAL low = rule[0], factor = rule[1], most = rule[2], missing = rule[3];
    for (size_t i = 0; i < size; i++) {
        const REAL rounded = NAME(rint)((values[i] - low) * factor);
        const REAL above = rounded > 0 ? rounded : 0;
        const REAL clipped = above < most ? above : most;
        whole[i] = rounded == rounded ? clipped : missing;
    }
}

/* 1 above `up`, -1 below `down`, 0 between them or where the value is missing. */
INLINE void NAME(step)(const REAL *values, size_t size, const REAL *rule, REAL *whole)
{
    const REAL up = rule[0], down = rule[1];
    for (size_t i = 0; i < size; i++)
        whole[i] = (REAL)(values[i] > up) - (REAL)(values[i] < down);
}

/* The sum of whole * weight, in several lanes that the compiler can keep in a vector. */
INLINE double NAME(weighted)(const REAL *whole, const float *weight, size_t size)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= size; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += (double)whole[i + j] * (double)weight[i + j];
    for (; i < size; i++)
        sum += (double)whole[i] * (double)weight[i];
    for (size_t j = 0; j < LANES; j++)
        sum += lane[j];
    return sum;
}

INLINE void NAME(sum_body)(const column *values, const people *rows, double *sums)
{
    REAL whole[TILE];
    for (size_t first = 0; first < rows->count; first += TILE) {
        const size_t size = rows->count - first < TILE ? rows->count - first : TILE;
        const REAL *some = (const REAL *)values->values + first;
        if (values->steps)
            NAME(step)(some, size, values->rule, whole);
        else
            NAME(scale)(some, size, values->rule, whole);
        for (size_t cell = 0; cell < rows->cells; cell++)
            sums[cell] += NAME(weighted)(whole, rows->weights + cell * rows->count + first, size);
        if (!rows->squared)
            continue;
        for (size_t i = 0; i < size; i++)
            whole[i] *= whole[i];
        for (size_t cell = 0; cell < rows->cells; cell++)
            sums[rows->cells + cell] += NAME(weighted)(whole, rows->weights + cell * rows->count + first, size);
    }
}
