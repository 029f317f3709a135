/* The tagger's networks (`clinical.claims.Tagger`): all words of some texts through all layers in one pass.
 *
 * What a word gets depends on the words that its layers see, never on how many there are beside them. Between layers
 * states and weights are bytes (Jacob et al. 2018). A product may be joined with its sum here, where the processor can:
 * the last bits are its own, as they are in a library of matrices.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif
#include "loops.h"

/* The same loop for processors that join products with sums, and for all others; the loader takes the better. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_JOINED_PRODUCTS __attribute__((target_clones("fma", "default")))
#else
#define FOR_JOINED_PRODUCTS
#endif

enum { TILE = 16, ABREAST = 4, TAPS = 3, GROUP = 4 };

/* A word's state in steps of 0 to LARGEST, and what a step is worth; as the states are, none is below 0. */
typedef struct {
    uint8_t *steps;
    float worth;
} Row;

/* One layer: weights in tiles of TILE outputs, (outputs / TILE, taps * inputs / GROUP, TILE, GROUP), the worth of a weight
 * of each output and its bias, or NULL. With `rectified`, what is below 0 becomes 0. */
typedef struct {
    const int8_t *weights;
    const float *scale, *bias;
    int64_t taps, inputs, outputs;
    int rectified;
} Layer;

static inline int32_t four_of(const uint8_t *steps)
{
    int32_t four;
    memcpy(&four, steps, sizeof four);
    return four;
}

/* Steps and weights of at most 127 are whole numbers whose sums are exact, so that every processor finds the same ones. */
#define LANES 4
#define ON_PROCESSORS
#define THROUGH through_anywhere
#define ADDED(sums, steps, weights) added_anywhere(sums, steps, weights)
typedef int32_t Sums __attribute__((vector_size(16), aligned(1)));
static inline __attribute__((always_inline)) Sums added_anywhere(Sums sums, const uint8_t *steps, Sums weights)
{
    for (int at = 0; at < GROUP; at++) /* a byte of each lane, the lowest first */
        sums += (weights << (24 - 8 * at) >> 24) * steps[at];
    return sums;
}
#include "tagging_lanes.h"
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CHOOSING /* the compiler makes functions for processors that the one at hand need not be */
#include <immintrin.h>
#define LANES 8
#define ON_PROCESSORS __attribute__((target("avx2,fma")))
#define THROUGH through_pairs
#define ADDED(sums, steps, weights) \
    ((sums) + (Wholes)_mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi32(four_of(steps)), (__m256i)(weights)), \
                                        _mm256_set1_epi16(1)))
#include "tagging_lanes.h"
#define LANES 16
#define ON_PROCESSORS __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,fma")))
#define THROUGH through_fours
#define ADDED(sums, steps, weights) \
    ((Wholes)_mm512_dpbusd_epi32((__m512i)(sums), _mm512_set1_epi32(four_of(steps)), (__m512i)(weights)))
#include "tagging_lanes.h"
#endif

/* found (words, outputs), words a multiple of ABREAST. `rows`: for each word the inputs of each tap; a tap whose words
 * all lie beyond the text adds nothing, as most do in a short text. `before` (words, outputs) is added, or NULL; it may
 * be `found`. */
static void through(const Layer *layer, const Row *rows, int64_t words, const float *before, float *found)
{
#ifdef CHOOSING
#ifndef KINDS /* of layers that may be used, all but the first only where the processor can: tests try each */
#define KINDS 3
#endif
    if (KINDS > 2 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("x86-64-v4")) {
        through_fours(layer, rows, words, before, found);
        return;
    }
    if (KINDS > 1 && __builtin_cpu_supports("x86-64-v3")) {
        through_pairs(layer, rows, words, before, found);
        return;
    }
#endif
    through_anywhere(layer, rows, words, before, found);
}

typedef int32_t Bits __attribute__((may_alias));

/* Each state (words, wide) as a share of its word's largest one. Floats from 0 on are ordered as their bits are, which
 * are looked through many at a time. */
FOR_JOINED_PRODUCTS static void in_steps(const float *state, int64_t words, int64_t wide, Row *rows)
{
    for (int64_t word = 0; word < words; word++, state += wide) {
        uint8_t *steps = rows[word].steps;
        const Bits *bits = (const Bits *)state;
        int32_t highest = 0;
        for (int64_t at = 0; at < wide; at++)
            highest = bits[at] > highest ? bits[at] : highest;
        float most;
        memcpy(&most, &highest, sizeof most);
        float each = most > 0 ? (float)LARGEST / most : 0;
        for (int64_t at = 0; at < wide; at++)
            steps[at] = (uint8_t)(int32_t)(state[at] * each + 0.5f);
        rows[word].worth = most / (float)LARGEST;
    }
}

typedef float Eight __attribute__((vector_size(8 * sizeof(float)), aligned(4)));

/* found (words, wide): what is known of each word (words, inputs) through the entry (inputs, wide), in tiles. */
FOR_JOINED_PRODUCTS static void enter(const float *known, const float *entry, const float *bias, int64_t words,
                                      int64_t inputs, int64_t wide, float *found)
{
    for (int64_t tile = 0; tile < wide; tile += TILE)
        for (int64_t word = 0; word < words; word += ABREAST) {
            const float *own = known + word * inputs;
            Eight low[ABREAST], high[ABREAST];
            for (int of = 0; of < ABREAST; of++)
                low[of] = *(const Eight *)(bias + tile), high[of] = *(const Eight *)(bias + tile + 8);
            for (int64_t input = 0; input < inputs; input++) {
                const float *weights = entry + input * wide + tile;
                Eight left = *(const Eight *)weights, right = *(const Eight *)(weights + 8);
                for (int of = 0; of < ABREAST; of++) {
                    low[of] += left * own[of * inputs + input];
                    high[of] += right * own[of * inputs + input];
                }
            }
            float *of_word = found + word * wide + tile;
            for (int of = 0; of < ABREAST; of++, of_word += wide)
                for (int lane = 0; lane < 8; lane++) {
                    of_word[lane] = larger(low[of][lane], 0);
                    of_word[lane + 8] = larger(high[of][lane], 0);
                }
        }
}

/* The row of an n-gram: its CRC-32, half a byte at a time, by which the rows were learned (`clinical.text.seen`). */
static int64_t row_of(const uint8_t *gram, int64_t length, int64_t buckets)
{
    static const uint32_t steps[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t sum = ~(uint32_t)0;
    for (int64_t at = 0; at < length; at++) {
        sum = steps[(sum ^ gram[at]) & 15] ^ sum >> 4;
        sum = steps[(sum ^ gram[at] >> 4) & 15] ^ sum >> 4;
    }
    return (int64_t)(~sum % (uint32_t)buckets);
}

enum { SHORTEST = 3, LONGEST = 5 }; /* bytes of the n-grams of a word with a sign before and behind it */

/* grams: the rows of each word, then those of its n-grams, from `first` to before the next one's (words + 1). `bordered`
 * has room for the longest word and both signs. */
static void read_grams(const SeenWords *seen, int64_t buckets, uint8_t *bordered, int64_t *grams, int64_t *first)
{
    int64_t count = 0;
    for (int64_t word = 0; word < seen->words; word++) {
        int64_t length = seen->start[word + 1] - seen->start[word], whole = length + 2;
        bordered[0] = '<';
        memcpy(bordered + 1, seen->letters + seen->start[word], (size_t)length);
        bordered[length + 1] = '>';
        first[word] = count;
        grams[count++] = row_of(bordered, whole, buckets);
        for (int64_t size = SHORTEST; size <= LONGEST; size++)
            for (int64_t at = 0; at + size <= whole; at++)
                grams[count++] = row_of(bordered + at, size, buckets);
    }
    first[seen->words] = count;
}

/* Ask for the rows of n-grams of all networks before they are added up: most lie in no near cache. */
static void fetch_rows(const Tagger *net, const int64_t *grams, int64_t count)
{
    for (int64_t number = 0; number < net->networks; number++)
        for (int64_t gram = 0; gram < count; gram++)
            __builtin_prefetch(net->grams + (number * net->buckets + grams[gram]) * net->wide);
}

/* known (words, inputs): the mean of the rows of a word and its n-grams, its own row, what is told of it, the rows of
 * both gaps. */
FOR_JOINED_PRODUCTS static void know(const Tagger *net, const SeenWords *seen, const int64_t *grams,
                                     const int64_t *first, int64_t number, float *known)
{
    int64_t wide = net->wide, between = net->between, told = net->told;
    const int8_t *table = net->grams + number * net->buckets * wide;
    const int8_t *own = net->words + number * net->buckets * wide;
    const float *scale = net->grams_scale + number * wide, *own_scale = net->words_scale + number * wide;
    const float *gaps = net->gaps + number * net->marks * between;
    for (int64_t word = 0; word < seen->words; word++) {
        int64_t from = first[word], to = first[word + 1];
        memset(known, 0, (size_t)wide * sizeof *known);
        for (int64_t gram = from; gram < to; gram++)
            for (int64_t at = 0; at < wide; at++)
                known[at] += (float)table[grams[gram] * wide + at];
        for (int64_t at = 0; at < wide; at++) {
            known[at] *= scale[at] / (float)(to - from);
            known[wide + at] = (float)own[grams[from] * wide + at] * own_scale[at];
        }
        memcpy(known + 2 * wide, seen->told + word * told, (size_t)told * sizeof *known);
        known += 2 * wide + told;
        for (int64_t side = 0; side < 2; side++, known += between)
            memcpy(known, gaps + seen->gaps[2 * word + side] * between, (size_t)between * sizeof *known);
    }
}

/* rows: for each word the states `away` before it, its own, and `away` behind it; zeros beyond its text. */
static void reach(const SeenWords *seen, const Row *own, int64_t away, Row zeros, Row *rows)
{
    for (int64_t text = 0; text < seen->texts; text++) {
        int64_t first = seen->text_start[text], behind = seen->text_start[text + 1];
        for (int64_t word = first; word < behind; word++) {
            *rows++ = word - away >= first ? own[word - away] : zeros;
            *rows++ = own[word];
            *rows++ = word + away < behind ? own[word + away] : zeros;
        }
    }
}

/* What one call needs: n-grams, for each word its row and those of its taps, what is known of it, its state in floats and
 * in steps. `filled`: words, and empty ones up to a multiple of ABREAST. */
typedef struct {
    int64_t *grams, *first_gram;
    Row *own, *taps;
    float *known, *state;
    uint8_t *steps, *beyond, *bordered;
    int64_t filled, inputs;
} Desk;

static size_t lay_out(Desk *desk, const Tagger *net, const SeenWords *seen, char *memory)
{
    Heap heap = {memory, 0};
    size_t words = (size_t)seen->words, letters = (size_t)seen->start[seen->words], wide = (size_t)net->hidden;
    size_t filled = (words + ABREAST - 1) / ABREAST * ABREAST, inputs;
    inputs = (size_t)(2 * net->wide + net->told + 2 * net->between);
    desk->grams = take(&heap, (words + (LONGEST - SHORTEST + 1) * (letters + 2 * words)) * sizeof(int64_t));
    desk->first_gram = take(&heap, (words + 1) * sizeof(int64_t));
    desk->own = take(&heap, filled * sizeof(Row));
    desk->taps = take(&heap, filled * TAPS * sizeof(Row));
    desk->known = take(&heap, filled * inputs * sizeof(float));
    desk->state = take(&heap, filled * wide * sizeof(float));
    desk->steps = take(&heap, filled * wide);
    desk->beyond = take(&heap, wide);
    desk->bordered = take(&heap, letters + 2);
    desk->filled = (int64_t)filled, desk->inputs = (int64_t)inputs;
    return heap.used;
}

/* first, last, state (networks, words, hidden): see `TaggedText`. -1 where there is no memory. */
int64_t tag(const Tagger *net, const SeenWords *seen, float *first, float *last, float *state)
{
    Desk desk;
    char *memory = calloc(lay_out(&desk, net, seen, NULL), 1);
    if (!memory)
        return -1;
    lay_out(&desk, net, seen, memory);
    int64_t words = seen->words, wide = net->hidden, filled = desk.filled, inputs = desk.inputs;
    Row zeros = {desk.beyond, 0};
    read_grams(seen, net->buckets, desk.bordered, desk.grams, desk.first_gram);
    fetch_rows(net, desk.grams, desk.first_gram[words]);
    for (int64_t word = 0; word < filled; word++)
        desk.own[word].steps = desk.steps + word * wide;
    for (int64_t tap = words * TAPS; tap < filled * TAPS; tap++)
        desk.taps[tap] = zeros;
    for (int64_t number = 0; number < net->networks; number++) {
        know(net, seen, desk.grams, desk.first_gram, number, desk.known);
        enter(desk.known, net->entry + number * inputs * wide, net->entry_bias + number * wide, filled, inputs, wide,
              desk.state);
        in_steps(desk.state, filled, wide, desk.own);
        for (int64_t depth = 0; depth < net->depth; depth++) {
            int64_t at = number * net->depth + depth;
            Layer layer = {net->layers + at * TAPS * wide * wide, net->layers_scale + at * wide,
                           net->layers_bias + at * wide, TAPS, wide, wide, 1};
            reach(seen, desk.own, (int64_t)1 << depth, zeros, desk.taps);
            through(&layer, desk.taps, filled, desk.state, desk.state);
            in_steps(desk.state, filled, wide, desk.own);
        }
        Layer begins = {net->joint + 2 * number * wide * wide, net->joint_scale + 2 * number * wide,
                        net->joint_bias + number * wide, 1, wide, wide, 0};
        Layer ends = {begins.weights + wide * wide, begins.scale + wide, NULL, 1, wide, wide, 0};
        size_t size = (size_t)(words * wide) * sizeof *first;
        int64_t place = number * words * wide;
        memcpy(state + place, desk.state, size);
        through(&begins, desk.own, filled, NULL, desk.state);
        memcpy(first + place, desk.state, size);
        through(&ends, desk.own, filled, NULL, desk.state);
        memcpy(last + place, desk.state, size);
    }
    free(memory);
    return 0;
}
