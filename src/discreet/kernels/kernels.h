/* What the kernels are, and how one loop is compiled for several processors.

   A kernel is plain C in a function marked INLINE. With GCC or Clang on x86-64, copies of it are compiled for
   processors with wider vectors too, and which copy runs is asked at each call. `widest` leaves some out, so that
   tests can run them all: 0 is plain C, 1 is AVX2, 2 is AVX-512. All of them compute on whole
   numbers, so they give the same bits. Other compilers and processors get the plain copy alone. */

#ifndef DISCREET_KERNELS_H
#define DISCREET_KERNELS_H

#include <stddef.h>
#include <stdint.h>

extern int widest;

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define APART restrict /* arrays that do not overlap */
#else
#define INLINE static
#define APART
#endif

#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)(address))
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define SEVERAL_PROCESSORS
#define WITH_AVX2 __attribute__((target("avx2")))
#define HAS_AVX2 (widest >= 1 && __builtin_cpu_supports("avx2"))
#define WITH_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#define HAS_AVX512                                                                                                 \
    (widest >= 2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&                    \
     __builtin_cpu_supports("avx512vl"))
#define WITH_VECTOR_POPCOUNT __attribute__((target("avx512f,avx512vl,avx512vpopcntdq")))
#define HAS_VECTOR_POPCOUNT                                                                                        \
    (widest >= 2 && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq"))
#else
#define HAS_AVX2 0
#define HAS_AVX512 0
#define HAS_VECTOR_POPCOUNT 0
#endif

/* Who is counted: masks[cell][words] has the low bit of each member's pair of bits set. */
typedef struct {
    const uint64_t *masks;
    size_t cells, words;
} groups;

/* Where counts go: those of a row are at[cell][0..3][row], and at[cell][0] is `width` numbers long. */
typedef struct {
    int32_t *at;
    size_t width;
} table;

/* Count, in each group, who carries 0, 1 and 2 first alleles and who has no call, in `rows` variants of `stride`
   bytes each; stride <= 8 * words. */
void count_genotypes(const uint8_t *packed, size_t rows, size_t stride, groups members, table counts);

/* Sum weight * first alleles over everyone with a call, in each of `rows` variants.
   weights[4][stride] are those of the first, second, third and fourth person of each byte. */
void sum_doses(const uint8_t *packed, size_t rows, size_t stride, const int32_t *weights, int64_t *sums);

/* A column of floats or doubles, and the numbers of what a value counts as: low, factor, most and missing, or, with
   `steps`, up and down. */
typedef struct {
    const void *values;
    const double *rule;
    int doubles, steps;
} column;

/* How much each person weighs: weights[cells][count], whole numbers up to 2^24; whether squares are summed too. */
typedef struct {
    const float *weights;
    size_t cells, count;
    int squared;
} people;

/* Add the column's weighted sums to sums[cells], and those of squares to the next `cells` numbers. */
void sum_column(const column *values, const people *rows, double *sums);

#define MOST 16384 /* no entry of a row is larger */

/* How the entries of a column become whole numbers: an answer is `high` for yes and `low` for no, a number is
   (x - centre) * factor + offset, no further out than low and high, toward zero; `missing` where there is none. */
typedef struct {
    double answer, centre, factor, offset, low, high, missing;
} column_rule;

/* Everyone's entries, column by column, as floats (kind 4), doubles (8), or whole numbers that follow no rule (2); and
   who of the people is looked at, from the first up to the last. `others` are the rules for the second group. */
typedef struct {
    const void *at;
    int kind;
    size_t people, first, last;
    const column_rule *rules, *others;
} entries;

/* Fetch some people's entries of a column from memory, which takes longer than what is done with them. */
INLINE void fetch_entries(const entries *from, size_t column, size_t first, size_t size)
{
    const size_t bytes = size * (size_t)from->kind;
    const char *at = (const char *)from->at + (column * from->people + first) * (size_t)from->kind;
    for (size_t k = 0; k < bytes; k += 64)
        FETCH(at + k);
}

/* Make entries whole numbers; whole[columns][people]. */
void make_whole(const entries *from, size_t columns, int16_t *whole);

/* Squared lengths of everyone's rows of the columns listed, as rules make them: lengths[people]. */
void add_lengths(const entries *from, const int64_t *places, size_t count, int64_t *lengths);

/* What is asked of the entries of a column: how many are of each size, pairs of octaves; the sum of their places in a
   window, -512 to 512, and how many there are; the sum of their distances from its centre, 0 to 1024; how many are in
   each part of it. */
enum { LOOK_SIZES, LOOK_MEANS, LOOK_DISTANCES, LOOK_PLACES };

/* Which of the columns that are listed, from the first up to the last, with a window for each. */
typedef struct {
    int what;
    size_t first, last;
    const double *centre, *window;
} lens;

/* Look at columns; out[listed][look_width(what)]. */
void look_at(const entries *from, const int64_t *columns, const lens *through, int64_t *out);
size_t look_width(int what);

/* Sum, over both groups and over the second, who has no entry in each of the columns listed, sums[2][count]: a person
   counts `unit`, and less where the vector of missing entries is longer than `norm`. */
void sum_lacking(const entries *from, const int64_t *columns, size_t count, const int8_t *group, double norm,
                 double unit, uint8_t *lacks, int64_t *sums);

/* Bytes of memory that this takes, at `lacks`. */
size_t lacking_memory(size_t count);

/* Which columns of the table make up a row, and which of them have entries of both signs; the balls of each group: room and radius of entries that are never
   negative, then of the others; whether anything is clipped; what a person's weight is counted in. */
typedef struct {
    size_t columns;
    const int64_t *places;
    const uint8_t *signs;
    const double *balls;
    int clips;
    double unit;
} clipping;

/* Sums over both groups and over the second, [2][columns]; of squares likewise; of the weights left, [2][parts]. */
typedef struct {
    int64_t *sums, *squares, *kept;
} totals;

/* Make rows whole, clip them and add them up; groups are 0 and 1, or -1 for neither. */
void add_rows(const entries *from, const int8_t *group, const clipping *how, void *memory, totals *into);

/* Bytes of memory that this takes. */
size_t strip_memory(size_t columns);

#define CONTEST_WORDS 1024 /* what a uniform's first ten bits can be: a table of these stays in the fastest cache */

/* Scores in a contest, the scale of their noise, and the first 16 bits of everyone's uniform. */
typedef struct {
    const double *scores;
    const uint16_t *words;
    size_t count;
    double scale;
} contestants;

/* Add to each score, in units of the noise, the least noise with such a word: least[CONTEST_WORDS], lower[count]. */
void lower_ends(const contestants *who, const double *least, double *lower);

/* Find whose lower end is not below what is needed with such a word, needed[CONTEST_WORDS]: places[count], of which as
   many are set as it returns. */
size_t reaching(const double *lower, const uint16_t *words, size_t count, const double *needed, int64_t *places);

/* Scores plus noise at eighty bits, of the Gumbel law or Laplace's, and ends of intervals around: bounds[3][count]. */
void noisy(const contestants *who, const uint64_t *low, int gumbel, double *bounds);

#define JOINT_MOST 128 /* the largest k of a joint choice in C */

/* Which k of m: scores with their signs changed, in their places, negative[m]; the smallest of these sorted,
   ranked[known], known > k; the spread of scores and epsilon; random words, of which the last is read first. */
typedef struct {
    const double *negative, *ranked;
    size_t m, known, k;
    double spread, epsilon;
    const uint64_t *words;
    size_t count;
} joint_question;

/* Change the signs of scores, clip them to +-limit, and put NaN at the limit. */
void negated(const double *scores, size_t count, double limit, double *negative);

/* Choose; places[k], rising. Returns 1, or 0 where doubles or the words do not suffice, or -1 where `ranked` does not;
   then nothing is chosen. No binomial coefficient may be beyond 10^300. */
int choose_joint(const joint_question *asked, int64_t *places);

/* Find where the scores of these ranks are, places[k], rising; ranks rise. Of equal scores the one with the lower
   place comes first, whatever was drawn. */
void find_places(const joint_question *asked, const int64_t *ranks, int64_t *places);

/* People worked on together, so that all of their entries stay in the processor's cache. */
size_t strip_size(size_t columns);

#endif
