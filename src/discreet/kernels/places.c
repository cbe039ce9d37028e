/* What comes before the joint choice, changing the signs of scores, and after: where the scores of given ranks are. */

#include <string.h>

#include "kernels.h"

#define SLOTS 2048    /* of a table in which chosen scores are looked up */
#define LOOKED_UP 256 /* scores at a time */

void negated(const double *APART scores, size_t count, double limit, double *APART negative)
{
    for (size_t i = 0; i < count; i++) {
        const double turned = 0 - scores[i]; /* 0 - 0 is 0, also where a zero is negative */
        const double low = turned < limit ? turned : limit; /* NaN is not */
        negative[i] = low > -limit ? low : -limit;
    }
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t slot_of(uint64_t bits)
{
    return (uint32_t)(bits * 0x9E3779B97F4A7C15u >> 53); /* 2^11 slots */
}

void find_places(const joint_question *asked, const int64_t *ranks, int64_t *places)
{
    int16_t table[SLOTS];
    uint64_t score_of[JOINT_MOST];
    int64_t occurrence[JOINT_MOST], seen[JOINT_MOST];
    size_t start[JOINT_MOST], end[JOINT_MOST], different = 0, filled = 0;
    memset(table, -1, sizeof table);
    for (size_t i = 0; i < asked->k; i++) {
        const double value = asked->ranked[ranks[i]];
        int64_t low = 0, high = ranks[i]; /* the first rank with this score */
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (asked->ranked[middle] < value)
                low = middle + 1;
            else
                high = middle;
        }
        occurrence[i] = ranks[i] - low;
        const uint64_t bits = bits_of(value);
        if (different > 0 && score_of[different - 1] == bits) {
            end[different - 1] = i + 1;
            continue;
        }
        uint32_t slot = slot_of(bits);
        while (table[slot] >= 0)
            slot = (slot + 1) % SLOTS;
        table[slot] = (int16_t)different;
        score_of[different] = bits;
        seen[different] = 0;
        start[different] = i;
        end[different++] = i + 1;
    }
    for (size_t first = 0; first < asked->m && filled < asked->k; first += LOOKED_UP) {
        const size_t next = asked->m - first < LOOKED_UP ? asked->m : first + LOOKED_UP;
        size_t hit[LOOKED_UP], hits = 0;
        for (size_t i = first; i < next; i++) {
            hit[hits] = i; /* the next one overwrites it unless it hits: nothing to guess */
            hits += table[slot_of(bits_of(asked->negative[i]))] >= 0;
        }
        for (size_t h = 0; h < hits; h++) {
            const uint64_t bits = bits_of(asked->negative[hit[h]]);
            for (uint32_t slot = slot_of(bits); table[slot] >= 0; slot = (slot + 1) % SLOTS) {
                const int16_t at = table[slot];
                if (score_of[at] != bits)
                    continue;
                if (start[at] < end[at] && occurrence[start[at]] == seen[at]) {
                    places[filled++] = (int64_t)hit[h];
                    start[at]++;
                }
                seen[at]++;
                break;
            }
        }
    }
}
