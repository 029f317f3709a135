/* A layer of the tagger in vectors of so many LANES: `tagging.c` includes this file once for each kind of processor,
 * with the name of the function (THROUGH), its processors (ON_PROCESSORS), and ADDED(sums, steps, weights), which adds to
 * each sum the products of four steps and the four weights of its lane. */

#define Wholes WITH_LANES(Wholes)
#define Lanes WITH_LANES(Lanes)
typedef int32_t Wholes __attribute__((vector_size(LANES * sizeof(int32_t)), aligned(1)));
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

ON_PROCESSORS static void THROUGH(const Layer *layer, const Row *rows, int64_t words, const float *before, float *found)
{
    int64_t taps = layer->taps, inputs = layer->inputs, wide = layer->outputs;
    for (int64_t tile = 0; tile < wide; tile += LANES) {
        Lanes none = {0}, scale = *(const Lanes *)(layer->scale + tile);
        Lanes bias = layer->bias ? *(const Lanes *)(layer->bias + tile) : none;
        const int8_t *first = layer->weights + tile / TILE * TILE * taps * inputs + tile % TILE * GROUP;
        for (int64_t word = 0; word < words; word += ABREAST) {
            const int8_t *own = first;
            Lanes sum[ABREAST] = {{0}};
            for (int64_t tap = 0; tap < taps; tap++, own += inputs * TILE) {
                const Row *one = rows + word * taps + tap, *two = one + taps, *three = two + taps, *four = three + taps;
                if (one->worth + two->worth + three->worth + four->worth == 0)
                    continue; /* all beyond the text */
                Wholes a = {0}, b = {0}, c = {0}, d = {0};
                for (int64_t at = 0; at < inputs; at += GROUP) {
                    Wholes weights = *(const Wholes *)(own + at * TILE);
                    a = ADDED(a, one->steps + at, weights);
                    b = ADDED(b, two->steps + at, weights);
                    c = ADDED(c, three->steps + at, weights);
                    d = ADDED(d, four->steps + at, weights);
                }
                sum[0] += __builtin_convertvector(a, Lanes) * one->worth;
                sum[1] += __builtin_convertvector(b, Lanes) * two->worth;
                sum[2] += __builtin_convertvector(c, Lanes) * three->worth;
                sum[3] += __builtin_convertvector(d, Lanes) * four->worth;
            }
            for (int64_t of = 0, at = word * wide + tile; of < ABREAST; of++, at += wide) {
                Lanes whole = sum[of] * scale + bias;
                if (layer->rectified)
                    for (int lane = 0; lane < LANES; lane++)
                        whole[lane] = whole[lane] > 0 ? whole[lane] : 0;
                *(Lanes *)(found + at) = before ? whole + *(const Lanes *)(before + at) : whole;
            }
        }
    }
}

#undef Wholes
#undef Lanes
#undef LANES
#undef ON_PROCESSORS
#undef THROUGH
#undef ADDED
