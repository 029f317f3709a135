/* A layer of the tagger in vectors of so many LANES: `tagging.c` includes this file once for each number of them. */

#define Lanes WITH_LANES(Lanes)
#define put WITH_LANES(put)
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

static inline __attribute__((always_inline)) void put(float *found, const float *before, Lanes sum, Lanes bias,
                                                      int rectified)
{
    sum += bias;
    if (rectified)
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] = sum[lane] > 0 ? sum[lane] : 0;
    if (before)
        sum += *(const Lanes *)before;
    *(Lanes *)found = sum;
}

ON_PROCESSORS static void WITH_LANES(through)(const Layer *layer, const float *const *rows, int64_t words,
                                              const float *zeros, const float *before, float *found)
{
    int64_t taps = layer->taps, inputs = layer->inputs, wide = layer->outputs;
    int64_t size = taps * inputs * TILE, tiles = 2 * LANES / TILE; /* of weights, and of them at a time */
    int64_t upper = tiles == 1 ? LANES : size;                     /* where the weights of the upper outputs are */
    for (int64_t tile = 0; tile < wide; tile += 2 * LANES) {
        Lanes none = {0}, low = layer->bias ? *(const Lanes *)(layer->bias + tile) : none;
        Lanes high = layer->bias ? *(const Lanes *)(layer->bias + tile + LANES) : none;
        for (int64_t word = 0; word < words; word += ABREAST) {
            const float *own = layer->weights + tile * taps * inputs;
            Lanes a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0};
            for (int64_t tap = 0; tap < taps; tap++) {
                const float *one = rows[word * taps + tap], *two = rows[(word + 1) * taps + tap];
                const float *three = rows[(word + 2) * taps + tap], *four = rows[(word + 3) * taps + tap];
                if (one == zeros && two == zeros && three == zeros && four == zeros) {
                    own += inputs * TILE;
                    continue;
                }
                for (int64_t input = 0; input < inputs; input++, own += TILE) {
                    for (int64_t ahead = tiles; ahead < 2 * tiles; ahead++)
                        __builtin_prefetch(own + ahead * size);
                    Lanes left = *(const Lanes *)own, right = *(const Lanes *)(own + upper);
                    a += left * one[input], b += right * one[input];
                    c += left * two[input], d += right * two[input];
                    e += left * three[input], f += right * three[input];
                    g += left * four[input], h += right * four[input];
                }
            }
            int64_t at = word * wide + tile;
            const float *old = before ? before + at : NULL;
            put(found + at, old, a, low, layer->rectified);
            put(found + at + LANES, old ? old + LANES : NULL, b, high, layer->rectified);
            put(found + at + wide, old ? old + wide : NULL, c, low, layer->rectified);
            put(found + at + wide + LANES, old ? old + wide + LANES : NULL, d, high, layer->rectified);
            put(found + at + 2 * wide, old ? old + 2 * wide : NULL, e, low, layer->rectified);
            put(found + at + 2 * wide + LANES, old ? old + 2 * wide + LANES : NULL, f, high, layer->rectified);
            put(found + at + 3 * wide, old ? old + 3 * wide : NULL, g, low, layer->rectified);
            put(found + at + 3 * wide + LANES, old ? old + 3 * wide + LANES : NULL, h, high, layer->rectified);
        }
    }
}

#undef Lanes
#undef put
#undef LANES
#undef ON_PROCESSORS
