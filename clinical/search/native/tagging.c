/* The tagger's networks (`clinical.claims.Tagger`): all words of some texts through all layers in one pass.
 *
 * What a word gets depends on the words that its layers see, never on how many there are beside them. A product may be
 * joined with its sum here, where the processor can: the last bits are its own, as they are in a library of matrices.
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

enum { TILE = 16, ABREAST = 4, TAPS = 3 };

/* One layer of matrices: weights in tiles of TILE outputs, (outputs / TILE, taps * inputs, TILE), and the bias of each
 * output. With `rectified`, what is below 0 becomes 0. */
typedef struct {
    const float *weights, *bias;
    int64_t taps, inputs, outputs;
    int rectified;
} Layer;

#define LANES 8
#define ON_PROCESSORS FOR_JOINED_PRODUCTS
#include "tagging_lanes.h" /* through8 */
#ifdef SIXTEEN_LANES
#define LANES 16
#define ON_PROCESSORS SIXTEEN_LANES
#include "tagging_lanes.h" /* through16 */
#endif

/* found (words, outputs), words a multiple of ABREAST. `rows`: for each word the inputs of each tap; a tap whose words
 * all lie beyond the text (`zeros`) adds nothing, as most do in a short text. `before` (words, outputs) is added to them,
 * or NULL; it may be `found`. The weights of all networks, 5 MB, lie in no near cache, and a short text uses each of them
 * once or twice: those of the next tile, or of the next layer, are asked for while a tile is added up. */
static void through(const Layer *layer, const float *const *rows, int64_t words, const float *zeros, const float *before,
                    float *found)
{
#ifdef SIXTEEN_LANES
    if (layer->outputs % (2 * TILE) == 0 && has_sixteen_lanes()) {
        through16(layer, rows, words, zeros, before, found);
        return;
    }
#endif
    through8(layer, rows, words, zeros, before, found);
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
static void reach(const SeenWords *seen, const float *state, int64_t wide, int64_t away, const float *zeros,
                  const float **rows)
{
    for (int64_t text = 0; text < seen->texts; text++) {
        int64_t first = seen->text_start[text], behind = seen->text_start[text + 1];
        for (int64_t word = first; word < behind; word++) {
            *rows++ = word - away >= first ? state + (word - away) * wide : zeros;
            *rows++ = state + word * wide;
            *rows++ = word + away < behind ? state + (word + away) * wide : zeros;
        }
    }
}

static void each_alone(const float *known, int64_t words, int64_t wide, const float **rows)
{
    for (int64_t word = 0; word < words; word++)
        rows[word] = known + word * wide;
}

/* first, last, state (networks, words, hidden): see `TaggedText`. -1 where there is no memory. */
int64_t tag(const Tagger *net, const SeenWords *seen, float *first, float *last, float *state)
{
    int64_t words = seen->words, wide = net->hidden, inputs = 2 * net->wide + net->told + 2 * net->between;
    int64_t filled = (words + ABREAST - 1) / ABREAST * ABREAST, most = inputs > wide ? inputs : wide;
    int64_t letters = seen->start[words], every = words + (LONGEST - SHORTEST + 1) * (letters + 2 * words);
    size_t numbers = (size_t)(filled * (inputs + 2 * wide) + most), pointers = (size_t)(filled * TAPS);
    size_t rows_of_grams = (size_t)(every + words + 1);
    float *memory = calloc(rows_of_grams * sizeof(int64_t) + pointers * sizeof(float *) + numbers * sizeof *memory
                               + (size_t)letters + 2, 1);
    if (!memory)
        return -1;
    int64_t *grams = (int64_t *)memory, *first_gram = grams + every;
    const float **rows = (const float **)(first_gram + words + 1);
    float *zeros = (float *)(rows + pointers), *known = zeros + most, *one = known + filled * inputs;
    float *other = one + filled * wide;
    read_grams(seen, net->buckets, (uint8_t *)(zeros + numbers), grams, first_gram);
    fetch_rows(net, grams, first_gram[words]);
    for (int64_t word = words * TAPS; word < filled * TAPS; word++)
        rows[word] = zeros;
    for (int64_t number = 0; number < net->networks; number++) {
        Layer entry = {net->entry + number * inputs * wide, net->entry_bias + number * wide, 1, inputs, wide, 1};
        know(net, seen, grams, first_gram, number, known);
        each_alone(known, filled, inputs, rows);
        through(&entry, rows, filled, zeros, NULL, one);
        for (int64_t depth = 0; depth < net->depth; depth++) {
            int64_t at = number * net->depth + depth;
            Layer layer = {net->layers + at * TAPS * wide * wide, net->layers_bias + at * wide, TAPS, wide, wide, 1};
            reach(seen, one, wide, (int64_t)1 << depth, zeros, rows);
            for (int64_t word = words * TAPS; word < filled * TAPS; word++)
                rows[word] = zeros;
            through(&layer, rows, filled, zeros, one, other);
            float *swapped = one;
            one = other;
            other = swapped;
        }
        const float *joint = net->joint + 2 * number * wide * wide;
        Layer begins = {joint, net->joint_bias + number * wide, 1, wide, wide, 0};
        Layer ends = {joint + wide * wide, NULL, 1, wide, wide, 0};
        size_t size = (size_t)(words * wide) * sizeof *first;
        int64_t place = number * words * wide;
        each_alone(one, filled, wide, rows);
        memcpy(state + place, one, size);
        through(&begins, rows, filled, zeros, NULL, other);
        memcpy(first + place, other, size);
        through(&ends, rows, filled, zeros, NULL, other);
        memcpy(last + place, other, size);
    }
    free(memory);
    return 0;
}
