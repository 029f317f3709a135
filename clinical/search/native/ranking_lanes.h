/* The networks of the ranking model in vectors of so many LANES: `ranking.c` includes this file once for each number of
 * them. */

#define Lanes WITH_LANES(Lanes)
#define Mask WITH_LANES(Mask)
#define add_up WITH_LANES(add_up)
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));
typedef int32_t Mask __attribute__((vector_size(LANES * sizeof(int32_t))));

#define PUT_RECTIFIED(sum, bias, found) \
    do { \
        sum += bias; \
        *(Lanes *)(found) = (Lanes)((Mask)sum & (sum > 0)); \
    } while (0)

/* found[j] = rectified (sum over k of in[k] * weights[k][j] + bias[j]), of 2 * LANES codes; four sums at a time, of which
 * `outputs` is a multiple. */
static inline __attribute__((always_inline)) void add_up(const float *in, int64_t stride, int64_t inputs,
                                                         const float *weights, int64_t outputs, const float *bias,
                                                         float *found)
{
    for (int64_t output = 0; output < outputs; output += 4, found += 8 * LANES) {
        Lanes a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0};
        const float *own = weights + output, *values = in;
        for (int64_t input = 0; input < inputs; input++, own += outputs, values += stride) {
            Lanes low = *(const Lanes *)values, high = *(const Lanes *)(values + LANES);
            a += low * own[0], b += high * own[0];
            c += low * own[1], d += high * own[1];
            e += low * own[2], f += high * own[2];
            g += low * own[3], h += high * own[3];
        }
        PUT_RECTIFIED(a, bias[output], found + 0 * LANES);
        PUT_RECTIFIED(b, bias[output], found + 1 * LANES);
        PUT_RECTIFIED(c, bias[output + 1], found + 2 * LANES);
        PUT_RECTIFIED(d, bias[output + 1], found + 3 * LANES);
        PUT_RECTIFIED(e, bias[output + 2], found + 4 * LANES);
        PUT_RECTIFIED(f, bias[output + 2], found + 5 * LANES);
        PUT_RECTIFIED(g, bias[output + 3], found + 6 * LANES);
        PUT_RECTIFIED(h, bias[output + 3], found + 7 * LANES);
    }
}

ON_PROCESSORS static void WITH_LANES(logits)(const Networks *networks, const float *columns, int64_t codes,
                                             int64_t stride, float *room, float *logits)
{
    int64_t hidden = networks->hidden, narrow = networks->narrow, count = networks->networks, abreast = 2 * LANES;
    float *narrowed = room + hidden * count * abreast;
    for (int64_t code = 0; code < codes; code += abreast) {
        Lanes low = {0}, high = {0};
        add_up(columns + code, stride, WIDTH, networks->first, hidden * count, networks->first_bias, room);
        for (int64_t number = 0; number < count; number++) {
            Lanes one = {0}, other = {0};
            add_up(room + number * hidden * abreast, abreast, hidden, networks->second + number * hidden * narrow, narrow,
                   networks->second_bias + number * narrow, narrowed);
            for (int64_t at = 0; at < narrow; at++) {
                float weight = networks->last[number * narrow + at];
                one += *(Lanes *)(narrowed + at * abreast) * weight;
                other += *(Lanes *)(narrowed + at * abreast + LANES) * weight;
            }
            low += one, high += other;
        }
        *(Lanes *)(logits + code) = low / (float)count;
        *(Lanes *)(logits + code + LANES) = high / (float)count;
    }
}

#undef Lanes
#undef Mask
#undef add_up
#undef PUT_RECTIFIED
#undef LANES
#undef ON_PROCESSORS
