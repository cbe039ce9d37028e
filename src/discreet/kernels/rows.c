/* Rows of people: entries made whole numbers by public rules, clipped to balls, added up by group.

   Entries lie column by column, as files have them, and are worked on some people at a time: a strip of all columns
   stays in the processor's cache, and what differs between columns is a constant of each loop.

   Every step on an entry is one operation, rounded as written, so that every machine and NumPy come to the same bits;
   sums are of whole numbers, so that neither strips nor threads change them. Entries are at most MOST: a square fits
   28 bits, eight squares fit 32, and the squares of 2^34 people fit 63. No branch depends on an entry: how long it
   takes tells nothing of them. */

#include <math.h>
#include <string.h>

#include "kernels.h"

#define LANES 64 /* a strip has a multiple of so many people, which vectors fit */
#define TALLEST 1024 /* people in a strip, at most */
#define STRIP ((size_t)1 << 18)
#define EIGHT 8 /* columns whose squares are added up in 32 bits for each person */
#define AHEAD 8 /* columns that are fetched from memory before they are asked for: each lies on a page of its own */
#define LITTLE (1.0 / (1 << 20)) /* more than rounding adds to a product of floats */

typedef struct {
    uint32_t some[TALLEST];
    int64_t all[TALLEST];
    unsigned columns;
} lengths;

/* What is known of each person of a strip: one after the other for answers without negative entries, then for others. */
typedef struct {
    lengths before[2], after[2];
    float norm[2][TALLEST], room[2][TALLEST], scale[2][TALLEST];
    int32_t inside[TALLEST], second[TALLEST];
} strip;

size_t strip_size(size_t columns)
{
    const size_t height = STRIP / (columns ? columns : 1) / LANES * LANES;
    return height < LANES ? LANES : height > TALLEST ? TALLEST : height;
}

size_t strip_memory(size_t columns)
{
    return sizeof(strip) + strip_size(columns) * columns * sizeof(int16_t);
}

/* An answer is `high` for yes and `low` for no; a number is (x - centre) * factor + offset, between low and high. */
#define WHOLE(type)                                                                                                \
    INLINE void whole_##type(const type *x, size_t size, const column_rule *rule, int16_t *out)                    \
    {                                                                                                              \
        const double centre = rule->centre, factor = rule->factor, offset = rule->offset;                          \
        const double low = rule->low, high = rule->high;                                                           \
        const int16_t yes = (int16_t)high, no = (int16_t)low, missing = (int16_t)rule->missing;                    \
        if (rule->answer != 0) {                                                                                   \
            for (size_t i = 0; i < size; i++) {                                                                    \
                const int16_t given = x[i] >= (type)0.5 ? yes : no;                                                \
                out[i] = x[i] == x[i] ? given : missing;                                                           \
            }                                                                                                      \
            return;                                                                                                \
        }                                                                                                          \
        for (size_t i = 0; i < size; i++) {                                                                        \
            const double steps = ((double)x[i] - centre) * factor + offset;                                        \
            const double above = steps > low ? steps : low;                                                        \
            const double inside = above < high ? above : high;                                                     \
            const int16_t number = (int16_t)(int32_t)inside;                                                       \
            out[i] = x[i] == x[i] ? number : missing;                                                              \
        }                                                                                                          \
    }

WHOLE(float)
WHOLE(double)

INLINE void whole_column(const entries *from, const column_rule *rule, size_t column, size_t first, size_t size,
                         int16_t *out)
{
    const size_t place = column * from->people + first;
    if (from->kind == 4)
        whole_float((const float *)from->at + place, size, rule, out);
    else if (from->kind == 8)
        whole_double((const double *)from->at + place, size, rule, out);
    else
        memcpy(out, (const int16_t *)from->at + place, size * sizeof(int16_t));
}

/* The same by the rule of each person's group, the j-th; rules are public, so it may take longer where they differ. */
INLINE void whole_by_group(const entries *from, size_t j, size_t column, size_t first, size_t size,
                           const int32_t *second, int16_t *out)
{
    whole_column(from, from->rules + j, column, first, size, out);
    if (from->kind != 2 && memcmp(from->rules + j, from->others + j, sizeof(column_rule)) != 0) {
        int16_t other[TALLEST];
        whole_column(from, from->others + j, column, first, size, other);
        for (size_t i = 0; i < size; i++)
            out[i] = second[i] ? other[i] : out[i];
    }
}

INLINE void flush(lengths *of, size_t size)
{
    for (size_t i = 0; i < size; i++)
        of->all[i] += of->some[i];
    memset(of->some, 0, size * sizeof of->some[0]);
    of->columns = 0;
}

INLINE void add_squares(lengths *of, const int16_t *row, size_t size)
{
    for (size_t i = 0; i < size; i++)
        of->some[i] += (uint32_t)((int32_t)row[i] * row[i]);
    if (++of->columns == EIGHT)
        flush(of, size);
}

/* Weigh each entry by what the person's others of its part amount to. */
INLINE void weigh(int16_t *row, const float *norm, const float *room, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const float entry = row[i], square = entry * entry, others = norm[i] - square;
        const float most = others > room[i] ? others : room[i];
        row[i] = (int16_t)(int32_t)(entry * sqrtf(room[i] / most));
    }
}

/* Clip a strip: entries first, then whole rows. What clipping leaves of the length of both parts goes to `kept`. */
INLINE void clip(strip *s, int16_t *tile, size_t height, size_t size, const clipping *how, const int8_t *group,
                 int64_t *kept)
{
    for (int part = 0; part < 2; part++) {
        flush(&s->before[part], size);
        for (size_t i = 0; i < size; i++) {
            s->norm[part][i] = (float)s->before[part].all[i];
            s->room[part][i] = (float)how->balls[(group[i] == 1 ? 4 : 0) + 2 * part];
        }
        memset(&s->after[part], 0, sizeof s->after[part]);
    }
    for (size_t j = 0; j < how->columns; j++) {
        const int part = how->signs[j] != 0;
        weigh(tile + j * height, s->norm[part], s->room[part], size);
        add_squares(&s->after[part], tile + j * height, size);
    }
    for (int part = 0; part < 2; part++) {
        flush(&s->after[part], size);
        for (size_t i = 0; i < size; i++) {
            const double radius = how->balls[(group[i] == 1 ? 4 : 0) + 2 * part + 1];
            const double length = sqrt((double)s->after[part].all[i]);
            const double shrunk = radius / (length > 1 ? length : 1) * (1 - LITTLE);
            s->scale[part][i] = (float)(length > radius ? shrunk : 1.0);
        }
    }
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; i < size; i++) {
            const double before = (double)s->before[part].all[i], after = (double)s->after[part].all[i];
            const double share = sqrt(after / (before > 1 ? before : 1)) * (double)s->scale[part][i];
            const int64_t steps = (int64_t)((before > 0 && share < 1 ? share : 1.0) * how->unit);
            kept[part] += steps & s->inside[i];
            kept[2 + part] += steps & s->second[i];
        }
}

/* Sums over both groups and over the second, also of squares, whose low and high bits are added up by themselves: each of
   these sums fits 32 bits, so that many are added side by side. */
#define ADD_COLUMN(name, scaled)                                                                                   \
    INLINE void name(const int16_t *row, const float *scale, const strip *s, size_t size, int64_t *sums)           \
    {                                                                                                              \
        int32_t both = 0, second = 0;                                                                              \
        uint32_t low = 0, high = 0, low_second = 0, high_second = 0;                                               \
        (void)scale;                                                                                               \
        for (size_t i = 0; i < size; i++) {                                                                        \
            const int32_t entry = (scaled) & s->inside[i];                                                         \
            const uint32_t square = (uint32_t)(entry * entry), theirs = square & (uint32_t)s->second[i];           \
            both += entry;                                                                                         \
            second += entry & s->second[i];                                                                        \
            low += square & 0xffff;                                                                                \
            high += square >> 16;                                                                                  \
            low_second += theirs & 0xffff;                                                                         \
            high_second += theirs >> 16;                                                                           \
        }                                                                                                          \
        sums[0] = both;                                                                                            \
        sums[1] = second;                                                                                          \
        sums[2] = ((int64_t)high << 16) + low;                                                                     \
        sums[3] = ((int64_t)high_second << 16) + low_second;                                                       \
    }

ADD_COLUMN(add_clipped, (int32_t)((float)row[i] * scale[i]))
ADD_COLUMN(add_whole, (int32_t)row[i])

INLINE void add_rows_body(const entries *from, const int8_t *group, const clipping *how, void *memory, totals *into)
{
    strip *s = memory;
    int16_t *tile = (int16_t *)(s + 1);
    const size_t height = strip_size(how->columns);
    for (size_t first = from->first; first < from->last; first += height) {
        const size_t size = from->last - first < height ? from->last - first : height;
        memset(s, 0, sizeof *s);
        for (size_t i = 0; i < size; i++) {
            s->inside[i] = -(group[first + i] >= 0);
            s->second[i] = -(group[first + i] == 1);
        }
        for (size_t j = 0; j < how->columns; j++) {
            int16_t *row = tile + j * height;
            if (j + AHEAD < how->columns)
                fetch_entries(from, (size_t)how->places[j + AHEAD], first, size);
            whole_by_group(from, j, (size_t)how->places[j], first, size, s->second, row);
            if (how->clips)
                add_squares(&s->before[how->signs[j] != 0], row, size);
        }
        if (how->clips)
            clip(s, tile, height, size, how, group + first, into->kept);
        else
            for (size_t i = 0; i < size; i++)
                for (int part = 0; part < 2; part++) {
                    into->kept[part] += (int64_t)how->unit & s->inside[i];
                    into->kept[2 + part] += (int64_t)how->unit & s->second[i];
                }
        for (size_t j = 0; j < how->columns; j++) {
            int64_t sums[4];
            if (how->clips)
                add_clipped(tile + j * height, s->scale[how->signs[j] != 0], s, size, sums);
            else
                add_whole(tile + j * height, NULL, s, size, sums);
            into->sums[j] += sums[0];
            into->sums[how->columns + j] += sums[1];
            into->squares[j] += sums[2];
            into->squares[how->columns + j] += sums[3];
        }
    }
}

INLINE void make_whole_body(const entries *from, size_t columns, int16_t *whole)
{
    for (size_t j = 0; j < columns; j++)
        whole_column(from, from->rules + j, j, from->first, from->last - from->first,
                     whole + j * from->people + from->first);
}

INLINE void add_lengths_body(const entries *from, const int64_t *places, size_t count, int64_t *out)
{
    lengths of;
    int16_t row[TALLEST];
    for (size_t first = from->first; first < from->last; first += TALLEST) {
        const size_t size = from->last - first < TALLEST ? from->last - first : TALLEST;
        memset(&of, 0, sizeof of);
        for (size_t j = 0; j < count; j++) {
            whole_column(from, from->rules + j, (size_t)places[j], first, size, row);
            add_squares(&of, row, size);
        }
        flush(&of, size);
        memcpy(out + first, of.all, size * sizeof *out);
    }
}

#ifdef SEVERAL_PROCESSORS
WITH_AVX2 static void add_lengths_avx2(const entries *from, const int64_t *places, size_t count, int64_t *out)
{
    add_lengths_body(from, places, count, out);
}

WITH_AVX512 static void add_lengths_avx512(const entries *from, const int64_t *places, size_t count, int64_t *out)
{
    add_lengths_body(from, places, count, out);
}

WITH_AVX2 static void make_whole_avx2(const entries *from, size_t columns, int16_t *whole)
{
    make_whole_body(from, columns, whole);
}

WITH_AVX512 static void make_whole_avx512(const entries *from, size_t columns, int16_t *whole)
{
    make_whole_body(from, columns, whole);
}

WITH_AVX2 static void add_rows_avx2(const entries *from, const int8_t *group, const clipping *how, void *memory,
                                    totals *into)
{
    add_rows_body(from, group, how, memory, into);
}

WITH_AVX512 static void add_rows_avx512(const entries *from, const int8_t *group, const clipping *how, void *memory,
                                        totals *into)
{
    add_rows_body(from, group, how, memory, into);
}
#endif

void add_lengths(const entries *from, const int64_t *places, size_t count, int64_t *out)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX512) {
        add_lengths_avx512(from, places, count, out);
        return;
    }
    if (HAS_AVX2) {
        add_lengths_avx2(from, places, count, out);
        return;
    }
#endif
    add_lengths_body(from, places, count, out);
}

void make_whole(const entries *from, size_t columns, int16_t *whole)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX512) {
        make_whole_avx512(from, columns, whole);
        return;
    }
    if (HAS_AVX2) {
        make_whole_avx2(from, columns, whole);
        return;
    }
#endif
    make_whole_body(from, columns, whole);
}

void add_rows(const entries *from, const int8_t *group, const clipping *how, void *memory, totals *into)
{
#ifdef SEVERAL_PROCESSORS
    if (HAS_AVX512) {
        add_rows_avx512(from, group, how, memory, into);
        return;
    }
    if (HAS_AVX2) {
        add_rows_avx2(from, group, how, memory, into);
        return;
    }
#endif
    add_rows_body(from, group, how, memory, into);
}
