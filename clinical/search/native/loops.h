/* What all files of the library use. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The same loop once for every processor and once for those of the last ten years; the loader takes the better. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Weights that are divided by are at least this: a query of words without any weight covers nothing. */
static const float LEAST_WEIGHT = 1e-6f;

/* The dot product of whole numbers so small that every sum is exact (see `cosines.py`). */
static inline __attribute__((always_inline)) int32_t product(const int16_t *one, const int8_t *other, int64_t dimensions)
{
    int32_t total = 0;
    for (int64_t dimension = 0; dimension < dimensions; dimension++)
        total += (int32_t)one[dimension] * (int32_t)(int16_t)other[dimension];
    return total;
}

static inline float larger(float one, float other) { return other > one ? other : one; }
static inline float smaller(float one, float other) { return other < one ? other : one; }

static inline __attribute__((always_inline)) float cosine_of(const int16_t *one, float scale, const int8_t *rows,
                                                             const float *scales, int64_t row, int64_t dimensions)
{
    return (float)product(one, rows + row * dimensions, dimensions) * scale * scales[row];
}

void descending(const float *values, int64_t count, const int64_t *first, int64_t runs, int64_t *order);
