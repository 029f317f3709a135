/* The loops of the search: what numpy would do in some two hundred calls on short arrays is here one pass each.
 *
 * A library without Python in it: plain arrays in, plain arrays out, called by `compiled.py`, which checks every array
 * before. Each function takes what belongs to one query in the query's own order, so that its figures are the same to
 * the last bit whatever is searched beside it; no product is joined with a sum (-ffp-contract=off) for the same reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The same loop once for every processor and once for those of the last ten years; the loader takes the better. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Which source this library was made of: `compiled.py` looks for it and makes the library again where it is another. */
const char befund_loops_source[] = "befund loops " DIGEST;

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

/* found[pair]: the dot product of row `at` on the left with row `wanted` of the table. */
FOR_EACH_PROCESSOR void products_of_pairs(const int16_t *left, const int8_t *rows, int64_t dimensions,
                                          const int64_t *at, const int64_t *wanted, int64_t pairs, float *found)
{
    for (int64_t pair = 0; pair < pairs; pair++)
        found[pair] = (float)product(left + at[pair] * dimensions, rows + wanted[pair] * dimensions, dimensions);
}

/* order: the places of the values, run by run, in each run the largest first; equal ones in their order. */
void descending(const float *values, int64_t count, const int64_t *first, int64_t runs, int64_t *order)
{
    for (int64_t place = 0; place < count; place++)
        order[place] = place;
    for (int64_t run = 0; run < runs; run++) {
        int64_t start = first[run], end = run + 1 < runs ? first[run + 1] : count;
        for (int64_t place = start + 1; place < end; place++) {
            int64_t moved = order[place], at = place;
            for (; at > start && values[order[at - 1]] < values[moved]; at--)
                order[at] = order[at - 1];
            order[at] = moved;
        }
    }
}

/* --- both BM25s and the wordings to look at --------------------------------------------------------------------- */

typedef struct {
    int64_t from, before, times; /* postings of one token of the query, and how often it has it */
} Run;

typedef struct {
    const int32_t *indices; /* the wording of each posting */
    const float *added;     /* what it adds to the score of its wording */
    int64_t most;           /* codes that are put forward */
} Postings;

typedef struct {
    Postings words, characters;
    const int64_t *row, *starts, *ends; /* the code of each wording; the wordings of each code */
    int64_t wordings;
} Catalog;

static void add_postings(float *scores, const Postings *postings, const Run *runs, int64_t count)
{
    for (int64_t run = 0; run < count; run++)
        for (int64_t at = runs[run].from; at < runs[run].before; at++)
            scores[postings->indices[at]] += postings->added[at] * (float)runs[run].times;
}

static void clear_postings(float *scores, const Postings *postings, const Run *runs, int64_t count)
{
    for (int64_t run = 0; run < count; run++)
        for (int64_t at = runs[run].from; at < runs[run].before; at++)
            scores[postings->indices[at]] = 0;
}

/* The codes of the best scores above 0, each once by its best wording, the best first, equal ones in their order; how
 * many. Only the wordings of these postings are looked at. */
static int64_t best_codes(const float *scores, const Postings *postings, const Run *runs, int64_t count,
                          const int64_t *row, int64_t *found, float *best)
{
    int64_t kept = 0, most = postings->most;
    float bar = 0;
    for (int64_t run = 0; run < count; run++)
        for (int64_t at = runs[run].from; at < runs[run].before; at++) {
            float score = scores[postings->indices[at]];
            if (score < bar || score <= 0)
                continue;
            int64_t code = row[postings->indices[at]], place = 0;
            while (place < kept && found[place] != code)
                place++;
            if (place == kept && kept < most)
                kept++;
            else if (place == kept && (score > bar || code < found[kept - 1]))
                place = kept - 1; /* in the place of the last */
            else if (place == kept || score <= best[place])
                continue;
            for (; place > 0 && (best[place - 1] < score || (best[place - 1] == score && found[place - 1] > code));
                 place--) {
                best[place] = best[place - 1];
                found[place] = found[place - 1];
            }
            best[place] = score;
            found[place] = code;
            bar = kept == most ? best[most - 1] : 0;
        }
    return kept;
}

static int by_size(const void *one, const void *other)
{
    int64_t left = *(const int64_t *)one, right = *(const int64_t *)other;
    return (left > right) - (left < right);
}

/* Ascending, each number once; how many are left. */
static int64_t distinct(int64_t *numbers, int64_t count)
{
    int64_t kept = 0;
    qsort(numbers, (size_t)count, sizeof *numbers, by_size);
    for (int64_t at = 0; at < count; at++)
        if (!at || numbers[at] != numbers[at - 1])
            numbers[kept++] = numbers[at];
    return kept;
}

/* Both BM25s' best value of a code, and its wording with the largest sum of both. */
static int64_t best_wording(const Catalog *catalog, const float *scores, int64_t code, float *word, float *character)
{
    const float *by_word = scores, *by_character = scores + catalog->wordings;
    int64_t found = catalog->starts[code];
    float largest = -1;
    *word = *character = 0;
    for (int64_t wording = catalog->starts[code]; wording < catalog->ends[code]; wording++) {
        *word = larger(*word, by_word[wording]);
        *character = larger(*character, by_character[wording]);
        if (by_word[wording] + by_character[wording] > largest) {
            largest = by_word[wording] + by_character[wording];
            found = wording;
        }
    }
    return found;
}

/* What to look at for one query: the near wordings (those at least 0), and the best one of each code that a BM25 puts
 * forward, ascending; and both BM25s' best value for each code of theirs, ascending. `counts`: how many wordings, how
 * many codes. `scores` (2, wordings): both BM25s' score of every wording, all 0 before and after. `wording`, `by_word`
 * and `by_character` have room for nears + the most of both, `room` for as many and the most of both once more. */
void look_at(const Catalog *catalog, float *scores, const Run *words, int64_t of_words, const Run *characters,
             int64_t of_characters, const int64_t *near, int64_t nears, int64_t *room, int64_t *wording,
             float *by_word, float *by_character, int64_t *counts)
{
    const Postings *word = &catalog->words, *character = &catalog->characters;
    float *of_character = scores + catalog->wordings;
    int64_t *extra = room, *codes = extra + word->most + character->most, many = 0;
    add_postings(scores, word, words, of_words);
    add_postings(of_character, character, characters, of_characters);
    int64_t extras = best_codes(scores, word, words, of_words, catalog->row, extra, by_word);
    extras += best_codes(of_character, character, characters, of_characters, catalog->row, extra + extras, by_word);
    for (int64_t at = 0; at < nears; at++)
        if (near[at] >= 0) {
            wording[many] = near[at];
            codes[many++] = catalog->row[near[at]];
        }
    memcpy(codes + many, extra, (size_t)extras * sizeof *codes);
    counts[1] = distinct(codes, many + extras);
    extras = distinct(extra, extras);
    for (int64_t at = 0, next = 0; at < counts[1]; at++) {
        int64_t best = best_wording(catalog, scores, codes[at], by_word + at, by_character + at);
        if (next < extras && extra[next] == codes[at]) {
            wording[many++] = best;
            next++;
        }
    }
    counts[0] = distinct(wording, many);
    clear_postings(scores, word, words, of_words);
    clear_postings(of_character, character, characters, of_characters);
}

/* --- the words of a query and those of a wording ---------------------------------------------------------------- */

typedef struct {
    const int64_t *words, *length;                /* (queries, longest) numbers of words; of each query */
    const int16_t *vectors;                       /* of each word of the queries */
    const float *scales, *idf, *weight;           /* the same */
    int64_t longest, dimensions;
} Asked;

typedef struct {
    const int64_t *word_start;                    /* where the words of each wording begin in `word` */
    const int32_t *word;                          /* numbers of the wordings' words */
    const int8_t *rows;                           /* their vectors */
    const float *scales, *idf, *weight;
} Vocabulary;

/* Squared cosine of a word of the catalog with each word of the query, 0 where the cosine is below. */
static inline __attribute__((always_inline)) void match_word(const Asked *asked, int64_t query,
                                                             const Vocabulary *known, int64_t word, float *found)
{
    const int64_t *own = asked->words + query * asked->longest;
    for (int64_t number = 0; number < asked->length[query]; number++) {
        const int16_t *vector = asked->vectors + own[number] * asked->dimensions;
        float exact = (float)product(vector, known->rows + word * asked->dimensions, asked->dimensions);
        float cosine = exact * asked->scales[own[number]] * known->scales[word];
        found[number] = cosine > 0 ? cosine * cosine : 0;
    }
}

/* How much of one side is covered: by IDF, by the encoder's weight, and its worst matched word. */
typedef struct {
    float idf, weight, by_idf, by_weight, worst;
} Side;

static inline void count_word(Side *side, float best, float idf, float weight)
{
    side->idf += idf;
    side->weight += weight;
    side->by_idf += best * idf;
    side->by_weight += best * weight;
    side->worst = smaller(side->worst, best);
}

/* Of each pair (query, wording), pairs of one query one behind the other: `by_word` (longest, pairs) the best match of
 * each word of the query; `found` (6, pairs) how much of the query and of the wording is covered, by IDF and by the
 * encoder's weight, and the worst matched word of each: in this order query, wording, query, wording, query, wording.
 * A word of the catalog is compared once for each query: `seen` (words of the catalog, all -1 before and after) says
 * where in `match`, which has room for longest values for each word of all these wordings. */
FOR_EACH_PROCESSOR void align(const Asked *asked, const Vocabulary *known, const int64_t *query,
                              const int64_t *wording, int64_t pairs, int32_t *seen, float *match, float *by_word,
                              float *found)
{
    int64_t begun = 0, matched = 0;
    for (int64_t pair = 0; pair < pairs; pair++) {
        int64_t own = query[pair], length = asked->length[own];
        const int64_t *words = asked->words + own * asked->longest;
        Side left = {0, 0, 0, 0, __builtin_inff()}, right = left;
        for (int64_t at = known->word_start[wording[pair]]; at < known->word_start[wording[pair] + 1]; at++) {
            int32_t other = known->word[at];
            if (seen[other] < 0) {
                seen[other] = (int32_t)matched;
                match_word(asked, own, known, other, match + matched++ * asked->longest);
            }
            const float *matches = match + seen[other] * asked->longest;
            float best = 0;
            for (int64_t number = 0; number < length; number++) {
                float *so_far = by_word + number * pairs + pair;
                best = larger(best, matches[number]);
                *so_far = larger(*so_far, matches[number]);
            }
            count_word(&right, best, known->idf[other], known->weight[other]);
        }
        for (int64_t number = 0; number < length; number++)
            count_word(&left, by_word[number * pairs + pair], asked->idf[words[number]], asked->weight[words[number]]);
        found[pair] = left.by_idf / larger(left.idf, LEAST_WEIGHT);
        found[pairs + pair] = right.by_idf / larger(right.idf, LEAST_WEIGHT);
        found[2 * pairs + pair] = left.by_weight / larger(left.weight, LEAST_WEIGHT);
        found[3 * pairs + pair] = right.by_weight / larger(right.weight, LEAST_WEIGHT);
        found[4 * pairs + pair] = left.worst;
        found[5 * pairs + pair] = right.worst;
        if (pair + 1 == pairs || query[pair + 1] != own) {
            for (; begun <= pair; begun++)
                for (int64_t at = known->word_start[wording[begun]]; at < known->word_start[wording[begun] + 1]; at++)
                    seen[known->word[at]] = -1;
            matched = 0;
        }
    }
}
