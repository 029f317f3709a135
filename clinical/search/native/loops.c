/* The loops of the search: what numpy would do in some two hundred calls on short arrays is here one pass each.
 *
 * A library without Python in it: plain arrays in, plain arrays out, called by `compiled.py`, which checks every array
 * before. Each function takes what belongs to one query in the query's own order, so that its figures are the same to
 * the last bit whatever is searched beside it; no product is joined with a sum (-ffp-contract=off) for the same reason.
 */
#include "loops.h"
#include <float.h>

/* Which source this library was made of: `compiled.py` looks for it and makes the library again where it is another. */
const char befund_loops_source[] = "befund loops " DIGEST;

/* order[start..end): the places of these values, the largest first; equal ones in their order. */
static void sort_places(const float *values, int64_t start, int64_t end, int64_t *order)
{
    for (int64_t place = start; place < end; place++) {
        int64_t at = place;
        for (; at > start && values[order[at - 1]] < values[place]; at--)
            order[at] = order[at - 1];
        order[at] = place;
    }
}

/* order: the places of the values, run by run, in each run the largest first; equal ones in their order. */
void descending(const float *values, int64_t count, const int64_t *first, int64_t runs, int64_t *order)
{
    for (int64_t run = 0; run < runs; run++)
        sort_places(values, first[run], run + 1 < runs ? first[run + 1] : count, order);
}

/* --- both BM25s and the wordings to look at --------------------------------------------------------------------- */

/* The postings of a query's tokens in the order in which it has them, each token once; how many tokens. `place`: one for
 * each token there is, all -1 before and after. */
static int64_t runs_of(const Postings *postings, const Tokens *tokens, const int64_t *words, int64_t length,
                       int32_t *place, Run *runs)
{
    int64_t count = 0;
    for (int64_t word = 0; word < length; word++)
        for (int64_t at = tokens->start[words[word]]; at < tokens->start[words[word] + 1]; at++) {
            int64_t token = tokens->token[at];
            if (place[token] < 0) {
                place[token] = (int32_t)count;
                runs[count++] = (Run){token, postings->start[token], postings->start[token + 1], 0};
            }
            runs[place[token]].times++;
        }
    for (int64_t word = 0; word < length; word++)
        for (int64_t at = tokens->start[words[word]]; at < tokens->start[words[word] + 1]; at++)
            place[tokens->token[at]] = -1;
    return count;
}

/* Add up the postings of wordings below `end`; those before are behind each run's `from` already. */
static void add_postings(float *scores, const Postings *postings, Run *runs, int64_t count, int64_t end)
{
    for (int64_t run = 0; run < count; run++) {
        int64_t at = runs[run].from, before = runs[run].before;
        float times = (float)runs[run].times;
        for (; at < before && postings->indices[at] < end; at++)
            scores[postings->indices[at]] += postings->added[at] * times;
        runs[run].from = at;
        for (int64_t line = 16; line <= 48; line += 16) {
            __builtin_prefetch(postings->indices + at + line);
            __builtin_prefetch(postings->added + at + line);
        }
    }
}

/* Postings from which a pass over the scores of all wordings, one behind the other, costs less than one over the
 * postings, all over the place: one in so many wordings. The outcome is the same. */
enum { DENSE = 8 };
/* Wordings whose scores are added up and looked at before the next: they stay in the nearest cache, 32 kB. */
enum { BLOCK = 8192 };

static int64_t postings_of(const Run *runs, int64_t count)
{
    int64_t postings = 0;
    for (int64_t run = 0; run < count; run++)
        postings += runs[run].before - runs[run].from;
    return postings;
}

/* Codes with their best scores, the best first, equal ones in their order; a score below `bar`, which is above 0, changes
 * nothing. */
typedef struct {
    int64_t *found, kept, most;
    float *best, bar;
} Best;

static void put_forward(Best *some, int64_t code, float score)
{
    int64_t place = 0, *found = some->found;
    float *best = some->best;
    while (place < some->kept && found[place] != code)
        place++;
    if (place == some->kept && some->kept < some->most)
        some->kept++;
    else if (place == some->kept && (score > some->bar || code < found[some->kept - 1]))
        place = some->kept - 1; /* in the place of the last */
    else if (place == some->kept || score <= best[place])
        return;
    for (; place > 0 && (best[place - 1] < score || (best[place - 1] == score && found[place - 1] > code)); place--) {
        best[place] = best[place - 1];
        found[place] = found[place - 1];
    }
    best[place] = score;
    found[place] = code;
    if (some->kept == some->most)
        some->bar = best[some->most - 1];
}

enum { ABREAST = 32 };

/* Whether one of ABREAST scores is not below the bar. */
static inline __attribute__((always_inline)) int any_above(const float *scores, float bar)
{
    int32_t found = 0;
    for (int64_t at = 0; at < ABREAST; at++)
        found |= scores[at] >= bar;
    return found;
}

FOR_EACH_PROCESSOR static void best_of_all(const float *scores, int64_t wordings, const int64_t *row, Best *some)
{
    int64_t at = 0;
    for (; at + ABREAST <= wordings; at += ABREAST)
        if (any_above(scores + at, some->bar))
            for (int64_t wording = at; wording < at + ABREAST; wording++)
                if (scores[wording] >= some->bar)
                    put_forward(some, row[wording], scores[wording]);
    for (; at < wordings; at++)
        if (scores[at] >= some->bar)
            put_forward(some, row[at], scores[at]);
}

/* Add up the scores of a query, and the codes of the best ones above 0, each once by its best wording, the best first,
 * equal ones in their order; how many. Only the wordings of these postings get a score. */
static int64_t best_codes(float *scores, int64_t wordings, const Postings *postings, Run *runs, int64_t count,
                          const int64_t *row, int64_t *found, float *best)
{
    Best some = {found, 0, postings->most, best, FLT_MIN};
    if (postings_of(runs, count) > wordings / DENSE) {
        for (int64_t block = 0; block < wordings; block += BLOCK) {
            int64_t end = block + BLOCK < wordings ? block + BLOCK : wordings;
            add_postings(scores, postings, runs, count, end);
            best_of_all(scores + block, end - block, row + block, &some);
        }
        return some.kept;
    }
    add_postings(scores, postings, runs, count, wordings);
    for (int64_t run = 0; run < count; run++)
        for (int64_t at = postings->start[runs[run].token]; at < runs[run].before; at++) {
            float score = scores[postings->indices[at]];
            if (score >= some.bar)
                put_forward(&some, row[postings->indices[at]], score);
        }
    return some.kept;
}

/* The scores all 0 again. */
static void clear_scores(float *scores, int64_t wordings, const Postings *postings, Run *runs, int64_t count)
{
    for (int64_t run = 0; run < count; run++)
        runs[run].from = postings->start[runs[run].token];
    if (postings_of(runs, count) > wordings / DENSE) {
        memset(scores, 0, (size_t)wordings * sizeof *scores);
        return;
    }
    for (int64_t run = 0; run < count; run++)
        for (int64_t at = runs[run].from; at < runs[run].before; at++)
            scores[postings->indices[at]] = 0;
}

enum { BITS = 8, DIGITS = 1 << BITS };

/* Ascending, each number once; how many are left. Sorted by a digit after the other, the last first (radix sort), which
 * no branch waits for. `room` has room for as many. */
static int64_t distinct(int64_t *numbers, int64_t count, int64_t *room)
{
    int64_t kept = 0, largest = 0, *from = numbers, *to = room;
    for (int64_t at = 0; at < count; at++)
        largest = numbers[at] > largest ? numbers[at] : largest;
    for (int64_t shift = 0; largest >> shift; shift += BITS) {
        int64_t place[DIGITS + 1] = {0}, *swapped = from;
        for (int64_t at = 0; at < count; at++)
            place[(from[at] >> shift) % DIGITS + 1]++;
        for (int64_t digit = 1; digit < DIGITS; digit++)
            place[digit] += place[digit - 1];
        for (int64_t at = 0; at < count; at++)
            to[place[(from[at] >> shift) % DIGITS]++] = from[at];
        from = to;
        to = swapped;
    }
    for (int64_t at = 0; at < count; at++)
        if (!at || from[at] != from[at - 1])
            to[kept++] = from[at];
    if (to != numbers)
        memcpy(numbers, to, (size_t)kept * sizeof *numbers);
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
 * many codes. */
static void look_at_one(const Catalog *catalog, const Spelled *spelled, int64_t query, const Room *room,
                        const int64_t *near, int64_t nears, int64_t *wording, float *by_word, float *by_character,
                        int64_t *counts)
{
    const Postings *word = &catalog->words, *character = &catalog->characters;
    const int64_t *words = spelled->words + query * spelled->longest, length = spelled->length[query];
    int64_t size = catalog->wordings, nearby = 0;
    float *of_character = room->scores + size;
    int64_t *extra = room->numbers, *codes = extra + word->most + character->most;
    int64_t *sorting = codes + nears + word->most + character->most;
    int64_t of_words = runs_of(word, &spelled->by_word, words, length, room->word, room->of_words);
    int64_t of_characters =
        runs_of(character, &spelled->by_character, words, length, room->character, room->of_characters);
    int64_t extras = best_codes(room->scores, size, word, room->of_words, of_words, catalog->row, extra, by_word);
    extras += best_codes(of_character, size, character, room->of_characters, of_characters, catalog->row,
                         extra + extras, by_word);
    for (int64_t at = 0; at < nears; at++)
        if (near[at] >= 0) {
            wording[nearby] = near[at];
            codes[nearby++] = catalog->row[near[at]];
        }
    memcpy(codes + nearby, extra, (size_t)extras * sizeof *codes);
    counts[1] = distinct(codes, nearby + extras, sorting);
    extras = distinct(extra, extras, sorting);
    for (int64_t at = 0, next = 0; at < counts[1]; at++) {
        int64_t best = best_wording(catalog, room->scores, codes[at], by_word + at, by_character + at);
        if (next < extras && extra[next] == codes[at]) {
            wording[nearby++] = best;
            next++;
        }
    }
    counts[0] = distinct(wording, nearby, sorting);
    clear_scores(room->scores, size, word, room->of_words, of_words);
    clear_scores(of_character, size, character, room->of_characters, of_characters);
}

/* The same for all queries, one's behind the other's: near (queries, nears), counts (queries, 2). `wording`, `by_word`
 * and `by_character` have room for nears + the most of both for each query, the numbers of the room for two queries' and
 * the most of both once more. */
void look_at(const Catalog *catalog, const Spelled *spelled, const Room *room, const int64_t *near, int64_t nears,
             int64_t *wording, float *by_word, float *by_character, int64_t *counts)
{
    for (int64_t query = 0; query < spelled->queries; query++, near += nears, counts += 2) {
        look_at_one(catalog, spelled, query, room, near, nears, wording, by_word, by_character, counts);
        wording += counts[0];
        by_word += counts[1];
        by_character += counts[1];
    }
}
