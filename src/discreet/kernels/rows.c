/* Rows of people: entries made whole numbers by public rules, clipped to balls, added up by group.

   Every step is a single operation on doubles that are whole, or rounded as written, so that every machine and NumPy
   come to the same bits. No branch depends on an entry: how long it takes tells nothing of them. */

#include <math.h>

#include "kernels.h"

#define LANES 8 /* sums side by side, which compilers keep in vectors */

/* round(entry) of one person, as `rule` says for each column:
   rule[8][columns] are: is it an answer, centre, reach, offset, factor, is it turned around, missing, less. */
INLINE void make_whole_body(const table_of_numbers *values, const double *rule, double end, int16_t *whole)
{
    const size_t m = values->columns;
    const double *answer = rule, *centre = rule + m, *reach = rule + 2 * m, *offset = rule + 3 * m;
    const double *factor = rule + 4 * m, *turned = rule + 5 * m, *missing = rule + 6 * m, *less = rule + 7 * m;
    for (size_t i = 0; i < values->rows; i++) {
        const double *doubles = (const double *)values->at + i * m;
        const float *floats = (const float *)values->at + i * m;
        int16_t *out = whole + i * m;
        for (size_t j = 0; j < m; j++) {
            const double x = values->doubles ? doubles[j] : (double)floats[j];
            const double place = 0.5 + (x - centre[j]) / reach[j] / 2;
            const double above = place > 0 ? place : 0;
            const double number = above < 1 ? above : 1;
            const double yes = x >= 0.5 ? 1.0 : 0.0;
            const double share = answer[j] != 0 ? yes : number;
            const double side = turned[j] != 0 ? 1 - share : share;
            const double steps = (side - offset[j]) * factor[j];
            const double low = steps > -end ? steps : -end;
            const double inside = low < end ? low : end;
            out[j] = (int16_t)((x == x ? trunc(inside) : missing[j]) - less[j]);
        }
    }
}

/* The squared lengths of a row's answers and of its numbers. */
INLINE void square(const double *row, const double *answer, size_t m, double *norm)
{
    double lane[LANES] = {0}, mine[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= m; j += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const double v = row[j + k] * row[j + k];
            lane[k] += v;
            mine[k] += v * answer[j + k];
        }
    for (size_t k = 0; j < m; j++, k++) {
        lane[k] += row[j] * row[j];
        mine[k] += row[j] * row[j] * answer[j];
    }
    norm[0] = norm[1] = 0;
    for (size_t k = 0; k < LANES; k++) {
        norm[0] += mine[k];
        norm[1] += lane[k] - mine[k];
    }
}

/* Weigh each entry by what the others of its part amount to, then each part by its length. */
INLINE void clip(double *row, const double *answer, size_t m, const double *ball, const double *norm)
{
    for (size_t j = 0; j < m; j++) {
        const double own = answer[j];
        const double room = own * ball[0] + (1 - own) * ball[2];
        const double others = own * norm[0] + (1 - own) * norm[1] - row[j] * row[j];
        row[j] = trunc(row[j] * sqrt(room / (others > room ? others : room)));
    }
    double after[2];
    square(row, answer, m, after);
    const double length[2] = {sqrt(after[0]), sqrt(after[1])};
    const double first = length[0] > ball[1] ? ball[1] / length[0] : 1;
    const double second = length[1] > ball[3] ? ball[3] / length[1] : 1;
    for (size_t j = 0; j < m; j++)
        row[j] = trunc(row[j] * (answer[j] * first + (1 - answer[j]) * second));
}

INLINE void add_rows_body(const int16_t *rows, const members *people, const clipping *how, double *row, totals *into)
{
    const size_t m = people->columns;
    for (size_t i = 0; i < people->rows; i++) {
        const int second = people->group[i] == 1;
        const double inside = people->group[i] >= 0 ? 1.0 : 0.0;
        double before[2] = {0}, after[2] = {0}, *sums = into->sums + (second ? m : 0);
        for (size_t j = 0; j < m; j++)
            row[j] = rows[i * m + j];
        if (how->clips) {
            square(row, how->answer, m, before);
            clip(row, how->answer, m, how->balls + (second ? 4 : 0), before);
            square(row, how->answer, m, after);
        }
        for (size_t j = 0; j < m; j++) {
            const double v = row[j] * inside;
            sums[j] += v;
            into->squares[j] += v * v;
        }
        const double share = sqrt(after[0] / (before[0] > 1 ? before[0] : 1));
        const double kept = before[0] > 0 && share < 1 ? share : 1;
        into->kept[second] += inside * trunc(kept * how->unit);
    }
}

#ifdef SEVERAL_PROCESSORS
WITH_AVX2 static void make_whole_avx2(const table_of_numbers *values, const double *rule, double end, int16_t *whole)
{
    make_whole_body(values, rule, end, whole);
}

WITH_AVX2 static void add_rows_avx2(const int16_t *rows, const members *people, const clipping *how, double *row,
                                    totals *into)
{
    add_rows_body(rows, people, how, row, into);
}
#endif

void make_whole(const table_of_numbers *values, const double *rule, double end, int16_t *whole)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX2) {
        make_whole_avx2(values, rule, end, whole);
        return;
    }
#endif
    make_whole_body(values, rule, end, whole);
}

void add_rows(const int16_t *rows, const members *people, const clipping *how, double *row, totals *into)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX2) {
        add_rows_avx2(rows, people, how, row, into);
        return;
    }
#endif
    add_rows_body(rows, people, how, row, into);
}
