/* The wordings of each candidate code compared with the query: most columns of the ranking model (`features.py`). */
#include "loops.h"

/* The wordings of each code of each query (ascending before), the most similar first, with their similarity; `first`:
 * where each code of each query begins; how many there are. `room` has room for two numbers for each pair. */
FOR_EACH_PROCESSOR int64_t nearest_first(const Asked *asked, const Known *known, const int64_t *query,
                                         const int64_t *wording, int64_t pairs, int64_t *room, int64_t *ordered,
                                         float *similarity, int64_t *first)
{
    int64_t codes = 0, *order = room, wide = asked->dimensions;
    float *unordered = (float *)(room + pairs);
    for (int64_t pair = 0; pair < pairs; pair++) {
        int64_t own = query[pair];
        unordered[pair] = cosine_of(asked->whole + own * wide, asked->whole_scales[own], known->rows, known->scales,
                                    wording[pair], wide);
        if (!pair || own != query[pair - 1] || known->row[wording[pair]] != known->row[wording[pair - 1]])
            first[codes++] = pair;
    }
    descending(unordered, pairs, first, codes, order);
    for (int64_t pair = 0; pair < pairs; pair++) {
        ordered[pair] = wording[order[pair]];
        similarity[pair] = unordered[order[pair]];
    }
    return codes;
}

/* Squared cosine of a word of the catalog with each word of the query, 0 where the cosine is below. */
static inline __attribute__((always_inline)) void match_word(const Asked *asked, int64_t query, const Known *known,
                                                             int64_t word, float *found)
{
    const int64_t *own = asked->words + query * asked->longest;
    for (int64_t number = 0; number < asked->length[query]; number++) {
        const int16_t *vector = asked->vectors + own[number] * asked->dimensions;
        float cosine = cosine_of(vector, asked->scales[own[number]], known->word_rows, known->word_scales, word,
                                 asked->dimensions);
        found[number] = cosine > 0 ? cosine * cosine : 0;
    }
}

/* How much of one side is covered: by IDF, by the encoder's weight, and its worst matched word. */
typedef struct {
    float idf, weight, by_idf, by_weight, worst;
} Side;

static const Side NOTHING = {0, 0, 0, 0, __builtin_inff()};

static inline void count_word(Side *side, float best, float idf, float weight)
{
    side->idf += idf;
    side->weight += weight;
    side->by_idf += best * idf;
    side->by_weight += best * weight;
    side->worst = smaller(side->worst, best);
}

static inline float by_idf(const Side *side) { return side->by_idf / larger(side->idf, LEAST_WEIGHT); }
static inline float by_weight(const Side *side) { return side->by_weight / larger(side->weight, LEAST_WEIGHT); }
static inline float harmonic(float one, float other) { return 2 * one * other / larger(one + other, LEAST_WEIGHT); }

/* What a query has matched so far: `seen` (words of the catalog, -1 where not yet) says where in `match` the squared
 * cosines of a word lie, so that each is compared once; `by_word`: the best of each word of the query in one wording. */
typedef struct {
    int32_t *seen;
    float *match, *by_word;
    int64_t matched;
} Matches;

/* Both sides of one wording. */
static inline __attribute__((always_inline)) void align(const Asked *asked, int64_t query, const Known *known,
                                                        int64_t wording, Matches *so_far, Side *left, Side *right)
{
    const int64_t *words = asked->words + query * asked->longest, length = asked->length[query];
    memset(so_far->by_word, 0, (size_t)length * sizeof *so_far->by_word);
    *left = *right = NOTHING;
    for (int64_t at = known->word_start[wording]; at < known->word_start[wording + 1]; at++) {
        int32_t other = known->word[at];
        if (so_far->seen[other] < 0) {
            so_far->seen[other] = (int32_t)so_far->matched;
            match_word(asked, query, known, other, so_far->match + so_far->matched++ * asked->longest);
        }
        const float *matches = so_far->match + so_far->seen[other] * asked->longest;
        float best = 0;
        for (int64_t number = 0; number < length; number++) {
            best = larger(best, matches[number]);
            so_far->by_word[number] = larger(so_far->by_word[number], matches[number]);
        }
        count_word(right, best, known->idf[other], known->weight[other]);
    }
    for (int64_t number = 0; number < length; number++)
        count_word(left, so_far->by_word[number], asked->idf[words[number]], asked->weight[words[number]]);
}

/* --- columns ---------------------------------------------------------------------------------------------------- */

/* Squared cosine from which two words count as the same: quantised vectors of one word are not quite parallel. */
static const float EXACT = 0.995f;

static int64_t words_of(const Known *known, int64_t wording)
{
    return known->word_start[wording + 1] - known->word_start[wording];
}

/* How much of the query all wordings of a code cover together, by IDF; `by_all`: the best match of each word. */
static float covered_by_all(const Asked *asked, int64_t query, const float *by_all)
{
    const int64_t *words = asked->words + query * asked->longest;
    float total = 0, covered = 0;
    for (int64_t number = 0; number < asked->length[query]; number++)
        total += asked->idf[words[number]];
    for (int64_t number = 0; number < asked->length[query]; number++)
        covered += by_all[number] * (asked->idf[words[number]] / larger(total, LEAST_WEIGHT));
    return covered;
}

/* What one wording says of its code; it is the best one so far where its alignment and similarity add up to more. */
static void count_wording(const Asked *asked, int64_t query, const Known *known, int64_t wording, float similarity,
                          const Side *left, const Side *right, float *most, float *code)
{
    float of_query = by_idf(left), of_wording = by_idf(right), aligned = harmonic(of_query, of_wording);
    int same_words = words_of(known, wording) == asked->length[query] && smaller(left->worst, right->worst) > EXACT;
    code[QUERY_COVERED] = larger(code[QUERY_COVERED], of_query);
    code[WORDING_COVERED] = larger(code[WORDING_COVERED], of_wording);
    code[ALIGNMENT] = larger(code[ALIGNMENT], aligned);
    code[WEIGHTED_ALIGNMENT] = larger(code[WEIGHTED_ALIGNMENT], harmonic(by_weight(left), by_weight(right)));
    code[VERBATIM] = larger(code[VERBATIM], (float)same_words);
    if (aligned + similarity <= *most)
        return;
    *most = aligned + similarity;
    code[BEST_QUERY_COVERED] = of_query;
    code[BEST_WORDING_COVERED] = of_wording;
    code[WORST_QUERY_WORD] = left->worst;
    code[WORST_WORDING_WORD] = right->worst;
    code[BEST_WEIGHTED_COVERED] = by_weight(left);
    code[LENGTH_RATIO] = (float)((double)words_of(known, wording) / (double)asked->length[query]);
    code[WEIGHT_DIFFERENCE] = asked->whole_weight[query] - known->whole_weight[wording];
}

/* Forget which words these wordings have, before the next query. */
static void forget(const Known *known, const int64_t *wording, int64_t count, Matches *so_far)
{
    for (int64_t pair = 0; pair < count; pair++)
        for (int64_t at = known->word_start[wording[pair]]; at < known->word_start[wording[pair] + 1]; at++)
            so_far->seen[known->word[at]] = -1;
    so_far->matched = 0;
}

/* columns (COMPARED, codes) of each code of each query, and the best of its wordings. `wording`, `similarity`, `first`
 * as `nearest_first` gives them. `seen`: a number for each word of the catalog, all -1 before and after; `match` has
 * room for longest values for each word of all these wordings, `by_word` for twice the longest. */
FOR_EACH_PROCESSOR void compare(const Asked *asked, const Known *known, const int64_t *query, const int64_t *wording,
                                const float *similarity, int64_t pairs, const int64_t *first, int64_t codes,
                                int32_t *seen, float *match, float *by_word, float *columns, int64_t *best)
{
    float *by_all = by_word + asked->longest, code[COMPARED];
    Matches so_far = {seen, match, by_word, 0};
    int64_t begun = 0;
    Side left, right;
    for (int64_t number = 0; number < codes; number++) {
        int64_t start = first[number], end = number + 1 < codes ? first[number + 1] : pairs, own = query[start];
        float most = -__builtin_inff();
        memset(code, 0, sizeof code);
        memset(by_all, 0, (size_t)asked->longest * sizeof *by_all);
        for (int64_t pair = start; pair < end; pair++) {
            float before = most;
            align(asked, own, known, wording[pair], &so_far, &left, &right);
            count_wording(asked, own, known, wording[pair], similarity[pair], &left, &right, &most, code);
            for (int64_t word = 0; word < asked->length[own]; word++)
                by_all[word] = larger(by_all[word], by_word[word]);
            if (most > before)
                best[number] = wording[pair];
        }
        int64_t row = known->row[wording[start]], wide = asked->dimensions;
        const int16_t *whole = asked->whole + own * wide;
        code[SIMILARITY] = similarity[start];
        code[SECOND] = end > start + 1 ? similarity[start + 1] : 0;
        code[TITLE] = cosine_of(whole, asked->whole_scales[own], known->rows, known->scales, known->title[row], wide);
        code[CENTRE] = cosine_of(whole, asked->whole_scales[own], known->centres, known->centre_scales, row, wide);
        code[QUERY_COVERED_BY_ALL] = covered_by_all(asked, own, by_all);
        for (int64_t column = 0; column < COMPARED; column++)
            columns[column * codes + number] = code[column];
        if (number + 1 == codes || query[end] != own) {
            forget(known, wording + begun, end - begun, &so_far);
            begun = end;
        }
    }
}
