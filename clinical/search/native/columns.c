/* The wordings of each candidate code compared with the query: most columns of the ranking model (`features.py`). */
#include "loops.h"

/* Wordings whose words are asked for before they are compared. */
enum { AHEAD = 3 };
/* Mark of two words that have not been compared; no squared cosine is below 0. */
static const float NOT_COMPARED = -1;

/* The wordings of each code (ascending before), the most similar first, with their similarity; `first`: where each code
 * begins; how many there are. `room` has room for two numbers for each wording. */
FOR_EACH_PROCESSOR int64_t nearest_first(const Asked *asked, const Known *known, const int64_t *wording, int64_t count,
                                         int64_t *room, int64_t *ordered, float *similarity, int64_t *first)
{
    int64_t codes = 0, *order = room, wide = asked->dimensions;
    float *unordered = (float *)(room + count);
    for (int64_t at = 0; at < count; at++) {
        unordered[at] = cosine_of(asked->whole, asked->whole_scale, known->rows, known->scales, wording[at], wide);
        if (!at || known->row[wording[at]] != known->row[wording[at - 1]])
            first[codes++] = at;
    }
    descending(unordered, count, first, codes, order);
    for (int64_t at = 0; at < count; at++) {
        ordered[at] = wording[order[at]];
        similarity[at] = unordered[order[at]];
    }
    return codes;
}

/* The squared cosine of a word of the catalog with one of the queries' words, 0 where the cosine is below. */
static inline __attribute__((always_inline)) float match_of(const Asked *asked, const Known *known, int64_t other,
                                                            int64_t word)
{
    float cosine = cosine_of(asked->vectors + word * asked->dimensions, asked->scales[word], known->word_rows,
                             known->word_scales, other, asked->dimensions);
    return cosine > 0 ? cosine * cosine : 0;
}

/* Ask for the memory of the words of a wording that have not been compared, before they are. */
static inline void fetch_words(const Known *known, int64_t wording, const int32_t *seen, int64_t dimensions)
{
    for (int64_t at = known->word_start[wording]; at < known->word_start[wording + 1]; at++)
        if (seen[known->word[at]] < 0) {
            const int8_t *row = known->word_rows + known->word[at] * dimensions;
            for (int64_t line = 0; line < dimensions + 63; line += 64)
                __builtin_prefetch(row + line);
            __builtin_prefetch(known->word_scales + known->word[at]);
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

/* Both sides of one wording; `by_word`: the best match of each word of the query in it. A word of the catalog is compared
 * once with each word of all queries of a call. */
static inline __attribute__((always_inline)) void align(const Asked *asked, const Known *known, int64_t wording,
                                                        Matches *so_far, float *by_word, Side *left, Side *right)
{
    const int64_t *words = asked->words, length = asked->length;
    memset(by_word, 0, (size_t)length * sizeof *by_word);
    *left = *right = NOTHING;
    for (int64_t at = known->word_start[wording]; at < known->word_start[wording + 1]; at++) {
        int32_t other = known->word[at];
        if (so_far->seen[other] < 0) {
            so_far->seen[other] = (int32_t)so_far->matched;
            so_far->word[so_far->matched] = other;
            float *fresh = so_far->match + so_far->matched++ * so_far->words;
            for (int64_t word = 0; word < so_far->words; word++)
                fresh[word] = NOT_COMPARED;
        }
        float *matches = so_far->match + so_far->seen[other] * so_far->words, best = 0;
        for (int64_t number = 0; number < length; number++) {
            float *own = matches + words[number];
            if (*own == NOT_COMPARED)
                *own = match_of(asked, known, other, words[number]);
            best = larger(best, *own);
            by_word[number] = larger(by_word[number], *own);
        }
        count_word(right, best, known->idf[other], known->weight[other]);
    }
    for (int64_t number = 0; number < length; number++)
        count_word(left, by_word[number], asked->idf[words[number]], asked->weight[words[number]]);
}

/* Forget what words of the catalog have matched. */
void forget(Matches *so_far)
{
    for (int64_t at = 0; at < so_far->matched; at++)
        so_far->seen[so_far->word[at]] = -1;
    so_far->matched = 0;
}

/* --- columns ---------------------------------------------------------------------------------------------------- */

/* Squared cosine from which two words count as the same: quantised vectors of one word are not quite parallel. */
static const float EXACT = 0.995f;

static int64_t words_of(const Known *known, int64_t wording)
{
    return known->word_start[wording + 1] - known->word_start[wording];
}

/* How much of the query all wordings of a code cover together, by IDF; `by_all`: the best match of each word. */
static float covered_by_all(const Asked *asked, const float *by_all)
{
    const int64_t *words = asked->words;
    float total = 0, covered = 0;
    for (int64_t number = 0; number < asked->length; number++)
        total += asked->idf[words[number]];
    for (int64_t number = 0; number < asked->length; number++)
        covered += by_all[number] * (asked->idf[words[number]] / larger(total, LEAST_WEIGHT));
    return covered;
}

/* What one wording says of its code; it is the best one so far where its alignment and similarity add up to more. */
static void count_wording(const Asked *asked, const Known *known, int64_t wording, float similarity, const Side *left,
                          const Side *right, float *most, float *code)
{
    float of_query = by_idf(left), of_wording = by_idf(right), aligned = harmonic(of_query, of_wording);
    int same_words = words_of(known, wording) == asked->length && smaller(left->worst, right->worst) > EXACT;
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
    code[LENGTH_RATIO] = (float)((double)words_of(known, wording) / (double)asked->length);
    code[WEIGHT_DIFFERENCE] = asked->whole_weight - known->whole_weight[wording];
}

/* columns (COMPARED, codes) of each code, and the best of its wordings. `wording`, `similarity`, `first` as
 * `nearest_first` gives them. `so_far` has room for the words of all these wordings, `by_word` for twice those of the
 * query. */
FOR_EACH_PROCESSOR void compare(const Asked *asked, const Known *known, const int64_t *wording, const float *similarity,
                                int64_t count, const int64_t *first, int64_t codes, Matches *so_far, float *by_word,
                                float *columns, int64_t *best)
{
    float *by_all = by_word + asked->length, code[COMPARED];
    int64_t wide = asked->dimensions;
    Side left, right;
    for (int64_t at = 0; at < count && at < AHEAD; at++)
        fetch_words(known, wording[at], so_far->seen, wide);
    for (int64_t number = 0; number < codes; number++) {
        int64_t start = first[number], end = number + 1 < codes ? first[number + 1] : count;
        float most = -__builtin_inff();
        memset(code, 0, sizeof code);
        memset(by_all, 0, (size_t)asked->length * sizeof *by_all);
        for (int64_t at = start; at < end; at++) {
            float before = most;
            if (at + AHEAD < count)
                fetch_words(known, wording[at + AHEAD], so_far->seen, wide);
            align(asked, known, wording[at], so_far, by_word, &left, &right);
            count_wording(asked, known, wording[at], similarity[at], &left, &right, &most, code);
            for (int64_t word = 0; word < asked->length; word++)
                by_all[word] = larger(by_all[word], by_word[word]);
            if (most > before)
                best[number] = wording[at];
        }
        int64_t row = known->row[wording[start]];
        code[SIMILARITY] = similarity[start];
        code[SECOND] = end > start + 1 ? similarity[start + 1] : 0;
        code[TITLE] = cosine_of(asked->whole, asked->whole_scale, known->rows, known->scales, known->title[row], wide);
        code[CENTRE] = cosine_of(asked->whole, asked->whole_scale, known->centres, known->centre_scales, row, wide);
        code[QUERY_COVERED_BY_ALL] = covered_by_all(asked, by_all);
        for (int64_t column = 0; column < COMPARED; column++)
            columns[column * codes + number] = code[column];
    }
}
