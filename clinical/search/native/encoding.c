/* Sums of rows of a table, as numpy's `reduceat` rounds them, and rows scaled to length 1, as its `norm` does. */
#include "loops.h"
#include <math.h>

enum { AT_ONCE = 8, PIECE = 128 };
/* Rows of a mapped table that are asked for before they are added: they mostly lie in no cache. */
enum { AHEAD = 128 };

/* A table of float32 rows, or of int8 ones with a scale each. */
typedef struct {
    const float *rows;
    const int8_t *small;
    const float *scales;
} Table;

static inline __attribute__((always_inline)) float value_of(const Table *table, int64_t row, int64_t dimensions,
                                                            int64_t at)
{
    if (table->rows)
        return table->rows[row * dimensions + at];
    return (float)table->small[row * dimensions + at] * table->scales[row];
}

/* sum (dimensions,) of some rows in the order of numpy's pairwise sum: up to seven one by one; up to PIECE in eight sums
 * side by side; more in halves. `room`: for AT_ONCE + 1 rows at each halving. */
static inline __attribute__((always_inline)) void add_few(const Table *table, const int64_t *rows, int64_t count,
                                                          int64_t dimensions, float *sum, float *side)
{
    int64_t whole = count < AT_ONCE ? 0 : count - count % AT_ONCE;
    for (int64_t at = 0; at < dimensions; at++)
        sum[at] = 0;
    for (int64_t number = 0; number < whole; number++) {
        float *own = side + number % AT_ONCE * dimensions;
        for (int64_t at = 0; at < dimensions; at++) {
            float value = value_of(table, rows[number], dimensions, at);
            own[at] = number < AT_ONCE ? value : own[at] + value;
        }
    }
    if (whole)
        for (int64_t at = 0; at < dimensions; at++) {
            const float *r = side + at;
            int64_t d = dimensions;
            sum[at] = ((r[0] + r[d]) + (r[2 * d] + r[3 * d])) + ((r[4 * d] + r[5 * d]) + (r[6 * d] + r[7 * d]));
        }
    for (int64_t number = whole; number < count; number++)
        for (int64_t at = 0; at < dimensions; at++)
            sum[at] += value_of(table, rows[number], dimensions, at);
}

FOR_EACH_PROCESSOR static void add_small(const int8_t *small, const float *scales, const int64_t *rows, int64_t count,
                                         int64_t dimensions, float *sum, float *side)
{
    Table table = {NULL, small, scales};
    add_few(&table, rows, count, dimensions, sum, side);
}

FOR_EACH_PROCESSOR static void add_floats(const float *table, const int64_t *rows, int64_t count, int64_t dimensions,
                                          float *sum, float *side)
{
    Table own = {table, NULL, NULL};
    add_few(&own, rows, count, dimensions, sum, side);
}

static void add_rows(const Table *table, const int64_t *rows, int64_t count, int64_t dimensions, float *sum, float *side)
{
    if (count <= PIECE) {
        if (table->rows)
            add_floats(table->rows, rows, count, dimensions, sum, side);
        else
            add_small(table->small, table->scales, rows, count, dimensions, sum, side);
        return;
    }
    int64_t half = count / 2;
    half -= half % AT_ONCE;
    float *other = side + AT_ONCE * dimensions;
    add_rows(table, rows, half, dimensions, sum, side);
    add_rows(table, rows + half, count - half, dimensions, other, other + dimensions);
    for (int64_t at = 0; at < dimensions; at++)
        sum[at] += other[at];
}

/* found (runs, dimensions): the sum of the rows of each run, none of them empty; `start` (runs + 1,). -1 where there is
 * no memory. */
int64_t add_runs(const float *rows, const int8_t *small, const float *scales, int64_t dimensions, const int64_t *numbers,
                 const int64_t *start, int64_t runs, float *found)
{
    int64_t most = 0, halvings = 2;
    for (int64_t run = 0; run < runs; run++)
        most = start[run + 1] - start[run] > most ? start[run + 1] - start[run] : most;
    for (; most > PIECE / 2; most /= 2)
        halvings++;
    float *side = malloc((size_t)(halvings * (AT_ONCE + 1) * dimensions) * sizeof *side);
    if (!side)
        return -1;
    Table table = {rows, small, scales};
    for (int64_t at = 0; small && at < start[runs] && at < AHEAD; at++) {
        for (int64_t line = 0; line < dimensions + 63; line += 64)
            __builtin_prefetch(small + numbers[at] * dimensions + line);
        __builtin_prefetch(scales + numbers[at]);
    }
    for (int64_t run = 0; run < runs; run++, found += dimensions) {
        int64_t first = start[run], count = start[run + 1] - first;
        add_rows(&table, numbers + first + 1, count - 1, dimensions, found, side);
        for (int64_t at = 0; at < dimensions; at++)
            found[at] = value_of(&table, numbers[first], dimensions, at) + found[at];
    }
    free(side);
    return 0;
}

static float squares(const float *row, int64_t count)
{
    float sum = 0, side[AT_ONCE];
    int64_t at = 0;
    if (count > PIECE) {
        int64_t half = count / 2;
        half -= half % AT_ONCE;
        float left = squares(row, half);
        return left + squares(row + half, count - half);
    }
    if (count >= AT_ONCE) {
        for (; at < AT_ONCE; at++)
            side[at] = row[at] * row[at];
        for (; at < count - count % AT_ONCE; at++)
            side[at % AT_ONCE] += row[at] * row[at];
        sum = ((side[0] + side[1]) + (side[2] + side[3])) + ((side[4] + side[5]) + (side[6] + side[7]));
    }
    for (; at < count; at++)
        sum += row[at] * row[at];
    return sum;
}

/* The rows scaled to length 1 in their place; `lengths`: what they were. */
void scale_to_one(float *rows, int64_t count, int64_t dimensions, float *lengths)
{
    for (int64_t row = 0; row < count; row++, rows += dimensions) {
        lengths[row] = sqrtf(squares(rows, dimensions));
        float length = larger(lengths[row], 1e-9f);
        for (int64_t at = 0; at < dimensions; at++)
            rows[at] /= length;
    }
}
