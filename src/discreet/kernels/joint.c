/* The joint choice among all sets of k: what selection/joint/joint.py draws, from the same random words.

   Sizes of blocks and noise are doubles here, with bounds on how far they are off. A step is taken only where these
   leave no doubt that whole numbers and decimals would take the same one; otherwise nothing comes out, and Python
   starts over with the same words. So what is chosen is the same function of scores and words, whoever chooses. */

#include <math.h>

#include "kernels.h"

#define ENTRIES 256
#define MARGIN 0.125 /* as in joint.py */
#define ULPS 0x1p-46 /* as in arrival.py: 64 units in the last place, for each of a handful of roundings */
#define FUZZ 0x1p-44 /* more than the roundings of a binomial coefficient, 3 * JOINT_MOST + 2 of 2^-53 */
#define EDGE 0x1p24

enum { FINE, UNDECIDED, DEEPER };

/* How many sets of k have their worst rank before `high`, and hold the `best` best, for both ends of two ranges. */
typedef struct {
    double low_first, low_last, high_first, high_last;
} coefficients;

/* Sets with worst rank in [worst, worst_end) and best missing rank in [missing, missing_end); their number, off by at
   most `fuzz`; the first arrival among them; a bound on their scores. The names are those of joint.py. */
typedef struct {
    int64_t worst, worst_end, missing, missing_end;
    coefficients sizes;
    double count, fuzz, log, slack, low, high, whole, inside, outside, after, wide, key, doubt;
} entry;

typedef struct {
    const joint_question *asked;
    size_t left; /* words not read yet; the last is read first */
    int trouble;
    double inverse[JOINT_MOST + 1]; /* 1/r! */
} state;

static uint64_t next_word(state *s)
{
    if (s->left == 0) {
        s->trouble = UNDECIDED;
        return (uint64_t)1 << 63;
    }
    return s->asked->words[--s->left];
}

static double score(state *s, int64_t rank)
{
    if ((size_t)rank >= s->asked->known) {
        s->trouble = DEEPER;
        return 0;
    }
    return -s->asked->ranked[rank];
}

static double holding(const state *s, int64_t high, int64_t best)
{
    const int64_t r = (int64_t)s->asked->k - best;
    if (r <= 0)
        return 0;
    double even = 1, odd = 1;
    int64_t i = 0;
    for (; i + 1 < r; i += 2) {
        even *= (double)(high - best - i);
        odd *= (double)(high - best - i - 1);
    }
    if (i < r)
        even *= (double)(high - best - i);
    return even * odd * s->inverse[r];
}

static void counted(entry *e)
{
    const coefficients *c = &e->sizes;
    e->count = (c->high_first - c->low_first) - (c->high_last - c->low_last);
    e->fuzz = FUZZ * (c->high_first + c->low_first + c->high_last + c->low_last);
}

static void by_worst(const state *s, const entry *e, entry *near, entry *far)
{
    const int64_t low = e->worst, high = e->worst_end;
    int64_t cut = (low + high) / 2;
    if (high > 4 * low) {
        const int64_t square = low * high;
        cut = (int64_t)sqrt((double)square);
        while (cut * cut > square)
            cut--;
        while ((cut + 1) * (cut + 1) <= square)
            cut++;
        cut = cut > low + 1 ? cut : low + 1;
    }
    *near = *far = *e;
    near->worst_end = far->worst = cut;
    near->sizes.high_first = far->sizes.low_first = holding(s, cut, e->missing);
    near->sizes.high_last = far->sizes.low_last = holding(s, cut, e->missing_end);
    counted(near);
    counted(far);
}

static void by_missing(const state *s, const entry *e, entry *near, entry *far)
{
    const int64_t cut = (e->missing + e->missing_end) / 2;
    *near = *far = *e;
    near->missing_end = far->missing = cut;
    near->sizes.high_last = far->sizes.high_first = holding(s, e->worst_end, cut);
    near->sizes.low_last = far->sizes.low_first = holding(s, e->worst, cut);
    counted(near);
    counted(far);
}

/* Whether a uniform real lies below the share that `part` has of `whole`. */
static int happens(state *s, const entry *part, const entry *whole)
{
    const double share = part->count / whole->count;
    const double lead = (double)next_word(s) * 0x1p-64 - share;
    const double doubt = 2 * (part->fuzz + share * whole->fuzz) / whole->count + 0x1p-49;
    if (!(fabs(lead) > doubt))
        s->trouble = UNDECIDED;
    return lead < 0;
}

static double noise_of(double log_s)
{
    if (log_s < -40)
        return -log_s;
    const double t = exp(log_s < 7 ? log_s : 7);
    return t > 0.5 ? -log1p(-exp(-t)) : -log(-expm1(-t));
}

/* Draw the first arrival in the block, after `before` where there is one. */
static void arrives(state *s, entry *e, const entry *before)
{
    const uint64_t word = next_word(s), rest = -word;
    const double tail = word < rest ? (double)word : (double)rest;
    if (tail < EDGE || word == 0 || !(e->fuzz < 0x1p-20 * e->count)) {
        s->trouble = UNDECIDED;
        return;
    }
    const double y =
        word < rest ? -log(((double)word + 0.5) * 0x1p-64) : -log1p(-((double)rest - 0.5) * 0x1p-64);
    const double many = log(e->count);
    e->log = log(y) - many;
    e->slack = 1 / tail + ULPS + ULPS * (1 + many) + 2 * e->fuzz / e->count;
    if (before) {
        const double large = e->log > before->log ? e->log : before->log;
        const double small = e->log > before->log ? before->log : e->log;
        e->log = large + log1p(exp(small - large));
        e->slack = (e->slack > before->slack ? e->slack : before->slack) + ULPS * (1 + fabs(large));
    }
    const double noise = noise_of(e->log), unit = s->asked->epsilon;
    const double middle = noise / unit, reach = (e->slack + ULPS * (1 + noise)) / unit + ULPS * middle;
    e->low = middle - reach;
    e->high = middle + reach;
    e->whole = floor(e->low);
    if (!(e->high < 0x1p50 && e->whole == floor(e->high)))
        s->trouble = UNDECIDED;
}

static void bounded(state *s, entry *e)
{
    e->inside = score(s, e->worst);
    e->outside = -e->inside;
    e->wide = 0;
    if (s->asked->k > 1) {
        e->outside = score(s, e->missing_end - 1);
        e->wide = score(s, e->missing) - e->outside;
    }
    const double spread = s->asked->spread;
    e->key = (e->inside - MARGIN * (e->inside + e->outside)) / spread + e->whole;
    e->doubt = 0x1p-48 * (1 + (fabs(e->inside) + fabs(e->outside)) / spread + e->whole);
}

/* The sign of (bound + whole part) of a, less that of b, without rounding: a sum of doubles that do not overlap. */
static int exact_lead(const state *s, const entry *a, const entry *b)
{
    const double wholes = 8 * (a->whole - b->whole), product = wholes * s->asked->spread;
    const double terms[] = {8 * a->inside, -a->inside, -a->outside, -8 * b->inside,
                            b->inside,     b->outside, product,     fma(wholes, s->asked->spread, -product)};
    double parts[sizeof terms / sizeof *terms];
    size_t count = 0;
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        double x = terms[t];
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) {
            const double y = parts[i], sum = x + y, back = sum - x, rest = (x - (sum - back)) + (y - back);
            if (rest != 0)
                parts[kept++] = rest;
            x = sum;
        }
        count = kept;
        if (x != 0)
            parts[count++] = x;
    }
    return count == 0 ? 0 : parts[count - 1] > 0 ? 1 : -1;
}

static int comes_first(state *s, const entry *a, const entry *b)
{
    const double lead = a->key - b->key;
    if (fabs(lead) > a->doubt + b->doubt)
        return lead > 0;
    const int sign = exact_lead(s, a, b);
    if (sign != 0)
        return sign > 0;
    if (b->high - b->whole < a->low - a->whole)
        return 1;
    if (!(a->high - a->whole < b->low - b->whole))
        s->trouble = UNDECIDED;
    return 0;
}

/* Find the block that holds the winner and whose sets score alike. */
static void search(state *s, entry *winner)
{
    entry list[ENTRIES];
    size_t count = 2;
    const int64_t k = (int64_t)s->asked->k, m = (int64_t)s->asked->m;
    list[0] = (entry){.worst = k - 1, .worst_end = k, .missing = k, .missing_end = k + 1, .count = 1};
    list[1] = (entry){.worst = k, .worst_end = m, .missing = 0, .missing_end = k};
    list[1].sizes = (coefficients){holding(s, k, 0), 0, holding(s, m, 0), 0};
    counted(&list[1]);
    for (size_t i = 0; i < 2; i++) {
        arrives(s, &list[i], NULL);
        list[i].after = -INFINITY;
        bounded(s, &list[i]);
    }
    while (s->trouble == FINE) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            if (comes_first(s, &list[i], &list[best]))
                best = i;
        const entry e = list[best];
        const int single = e.worst_end - e.worst == 1;
        if (s->trouble != FINE || ((single || e.inside == e.after) && e.wide == 0)) {
            *winner = e;
            return;
        }
        if (count == ENTRIES) {
            s->trouble = UNDECIDED;
            return;
        }
        entry *halves[] = {&list[best], &list[count++]};
        const double deep = single ? 0 : (1 - MARGIN) * (e.inside - e.after);
        if (MARGIN * e.wide >= deep)
            by_missing(s, &e, halves[0], halves[1]);
        else
            by_worst(s, &e, halves[0], halves[1]);
        /* The first arrival lies in either half in proportion to its size; the other half's comes later. */
        const int first = happens(s, halves[0], &e);
        for (int i = 0; i < 2; i++) {
            if (first == i)
                arrives(s, halves[i], &e);
            if (halves[i]->worst_end < e.worst_end)
                halves[i]->after = score(s, halves[i]->worst_end);
            bounded(s, halves[i]);
        }
    }
}

static int64_t below(state *s, int64_t bound)
{
    int bits = 0;
    while ((bound - 1) >> bits)
        bits++;
    while (s->trouble == FINE) {
        const uint64_t word = next_word(s), drawn = bits ? word >> (64 - bits) : 0;
        if (drawn < (uint64_t)bound)
            return (int64_t)drawn;
    }
    return 0;
}

/* Draw a set of the block, in which all score alike: its ranks, in rising order. */
static void any_of(state *s, entry e, int64_t *ranks)
{
    while (s->trouble == FINE && (e.worst_end - e.worst > 1 || e.missing_end - e.missing > 1)) {
        entry near, far;
        if (e.worst_end - e.worst > 1)
            by_worst(s, &e, &near, &far);
        else
            by_missing(s, &e, &near, &far);
        e = happens(s, &near, &e) ? near : far;
    }
    const int64_t k = (int64_t)s->asked->k;
    if (e.worst < k) {
        for (int64_t i = 0; i < k; i++)
            ranks[i] = i;
        return;
    }
    const int64_t start = e.missing + 1, wanted = k - 1 - e.missing, between = e.worst - start;
    for (int64_t i = 0; i < e.missing; i++)
        ranks[i] = i;
    for (int64_t i = 0; i < wanted; i++) { /* Floyd's way, sorted as it goes */
        const int64_t last = between - wanted + i;
        int64_t pick = below(s, last + 1);
        for (int64_t j = 0; j < i; j++)
            if (ranks[e.missing + j] == start + pick) {
                pick = last;
                break;
            }
        int64_t j = e.missing + i;
        for (; j > e.missing && ranks[j - 1] > start + pick; j--)
            ranks[j] = ranks[j - 1];
        ranks[j] = start + pick;
    }
    ranks[k - 1] = e.worst;
}

int choose_joint(const joint_question *asked, int64_t *places)
{
    state s = {.asked = asked, .left = asked->count, .trouble = FINE, .inverse = {1}};
    for (size_t r = 1; r <= asked->k; r++)
        s.inverse[r] = s.inverse[r - 1] / (double)r;
    entry winner;
    int64_t ranks[JOINT_MOST];
    search(&s, &winner);
    if (s.trouble == FINE)
        any_of(&s, winner, ranks);
    if (s.trouble == FINE)
        find_places(asked, ranks, places);
    return s.trouble == FINE ? 1 : s.trouble == DEEPER ? -1 : 0;
}
