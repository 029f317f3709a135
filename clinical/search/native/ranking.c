/* From queries to their best codes: what the other files do, one query after another, and all of it stays in the
 * nearest cache; then the columns of the ranking model (`features.py`), and the model itself (`ranking.py`).
 *
 * A query's figures are made of its own values in its own order. The networks add up one input after another for
 * codes abreast, so that they round alike whatever the processor and however many codes there are.
 */
#include "loops.h"
#include <math.h>

enum { ABREAST = 32 }; /* codes at a time, where the lanes are the most */

/* --- the networks ----------------------------------------------------------------------------------------------- */

#define LANES 8
#define ON_PROCESSORS FOR_EACH_PROCESSOR
#include "ranking_lanes.h" /* logits8 */
#ifdef SIXTEEN_LANES
#define LANES 16
#define ON_PROCESSORS SIXTEEN_LANES
#include "ranking_lanes.h" /* logits16 */
#endif

/* logits (codes,), the mean over the networks. `columns` (WIDTH, stride): column by column, as the networks were taught
 * them (mean and scale), the stride a multiple of ABREAST; `room` for (hidden * networks + narrow) * ABREAST. */
void logits_of(const Networks *networks, const float *columns, int64_t codes, int64_t stride, float *room, float *logits)
{
#ifdef SIXTEEN_LANES
    if (has_sixteen_lanes()) {
        logits16(networks, columns, codes, stride, room, logits);
        return;
    }
#endif
    logits8(networks, columns, codes, stride, room, logits);
}

/* --- the columns ------------------------------------------------------------------------------------------------ */

/* The columns, in the order of `COLUMNS` and `RELATIVE` in `features.py`. */
enum {
    C_SIMILARITY, C_MASS_SOFT, C_MASS_SHARP, C_SECOND, C_TITLE, C_CENTRE, C_WORDS_BM25, C_CHARACTERS_BM25,
    C_QUERY_COVERED, C_WORDING_COVERED, C_ALIGNMENT, C_WEIGHTED_ALIGNMENT, C_QUERY_COVERED_BY_ALL, RELATIVES,
    C_MASS_SHARE = RELATIVES, C_CATEGORY_SHARE, C_PARENT_SHARE, C_WORDS_BM25_SHARE, C_CHARACTERS_BM25_SHARE,
    C_BEST_QUERY_COVERED, C_BEST_WORDING_COVERED, C_WORST_QUERY_WORD, C_WORST_WORDING_WORD, C_BEST_WEIGHTED_COVERED,
    C_LENGTH_RATIO, C_WEIGHT_DIFFERENCE, C_HITS, C_RANK, C_VERBATIM,
    C_TRAITS, C_QUERY_WORDS = C_TRAITS + TRAITS, C_QUERY_RARITY, C_QUERY_WEIGHT, C_RELATIVE
};
_Static_assert(C_RELATIVE + RELATIVES == WIDTH, "as many columns as the networks take");

static const uint8_t COMPARED_AT[COMPARED] = {
    [SIMILARITY] = C_SIMILARITY, [SECOND] = C_SECOND, [TITLE] = C_TITLE, [CENTRE] = C_CENTRE,
    [QUERY_COVERED] = C_QUERY_COVERED, [WORDING_COVERED] = C_WORDING_COVERED, [ALIGNMENT] = C_ALIGNMENT,
    [WEIGHTED_ALIGNMENT] = C_WEIGHTED_ALIGNMENT, [QUERY_COVERED_BY_ALL] = C_QUERY_COVERED_BY_ALL,
    [BEST_QUERY_COVERED] = C_BEST_QUERY_COVERED, [BEST_WORDING_COVERED] = C_BEST_WORDING_COVERED,
    [WORST_QUERY_WORD] = C_WORST_QUERY_WORD, [WORST_WORDING_WORD] = C_WORST_WORDING_WORD,
    [BEST_WEIGHTED_COVERED] = C_BEST_WEIGHTED_COVERED, [VERBATIM] = C_VERBATIM, [LENGTH_RATIO] = C_LENGTH_RATIO,
    [WEIGHT_DIFFERENCE] = C_WEIGHT_DIFFERENCE,
};

/* Temperatures at which similarities of a code's wordings are added up. */
static const float SOFT = 0.05f, SHARP = 0.02f;
static const float LEAST_BM25 = 1e-6f;

/* The candidates of one query: codes with their best wording, and `first`: where the wordings of each begin. */
typedef struct {
    int64_t codes, wordings, stride;
    const int64_t *first, *best;
    const float *similarity, *by_word, *by_character;
    int64_t *code; /* catalog numbers */
    float *columns; /* (WIDTH, stride) */
} Candidates;

static inline float *column_of(const Candidates *some, int64_t column) { return some->columns + column * some->stride; }

static float total_of(const float *values, int64_t count)
{
    float total = 0;
    for (int64_t at = 0; at < count; at++)
        total += values[at];
    return total;
}

static float most_of(const float *values, int64_t count)
{
    float most = values[0];
    for (int64_t at = 1; at < count; at++)
        most = larger(most, values[at]);
    return most;
}

static void add_masses(const Candidates *some)
{
    for (int64_t code = 0; code < some->codes; code++) {
        int64_t start = some->first[code], end = code + 1 < some->codes ? some->first[code + 1] : some->wordings;
        float soft = 0, sharp = 0;
        for (int64_t at = start; at < end; at++) {
            float below = some->similarity[at] - 1;
            soft += expf(below / SOFT);
            sharp += expf(below / SHARP);
        }
        column_of(some, C_MASS_SOFT)[code] = logf(soft + 1e-9f);
        column_of(some, C_MASS_SHARP)[code] = logf(sharp + 1e-12f);
        column_of(some, C_HITS)[code] = (float)log1p((double)(end - start));
    }
}

/* The share of the codes of a family in the mass; `of`: the family of each code of the catalog, `sums`: all 0 before
 * and after. */
static void add_family(const Candidates *some, const int64_t *of, double *sums, int64_t column)
{
    const float *mass = column_of(some, C_MASS_SHARE);
    for (int64_t code = 0; code < some->codes; code++)
        sums[of[some->code[code]]] += (double)mass[code];
    for (int64_t code = 0; code < some->codes; code++)
        column_of(some, column)[code] = (float)sums[of[some->code[code]]];
    for (int64_t code = 0; code < some->codes; code++)
        sums[of[some->code[code]]] = 0;
}

static void add_shares(const Candidates *some, const Traits *traits, double *sums)
{
    float *mass = column_of(some, C_MASS_SHARE), *soft = column_of(some, C_MASS_SOFT);
    for (int64_t code = 0; code < some->codes; code++)
        mass[code] = expf(soft[code]);
    float total = total_of(mass, some->codes);
    for (int64_t code = 0; code < some->codes; code++)
        mass[code] /= total;
    add_family(some, traits->category, sums, C_CATEGORY_SHARE);
    add_family(some, traits->parent, sums, C_PARENT_SHARE);
    const float *scores[2] = {some->by_word, some->by_character};
    for (int64_t kind = 0; kind < 2; kind++) {
        float best = larger(most_of(scores[kind], some->codes), LEAST_BM25);
        for (int64_t code = 0; code < some->codes; code++) {
            column_of(some, C_WORDS_BM25 + kind)[code] = scores[kind][code];
            column_of(some, C_WORDS_BM25_SHARE + kind)[code] = scores[kind][code] / best;
        }
    }
}

static void add_rank(const Candidates *some, int64_t *order)
{
    int64_t zero = 0;
    descending(column_of(some, C_MASS_SOFT), some->codes, &zero, 1, order);
    for (int64_t place = 0; place < some->codes; place++)
        column_of(some, C_RANK)[order[place]] = (float)place;
}

/* All columns of one query. `compared` (COMPARED, codes) as `compare` gives them; `order` has room for the codes. */
static void add_columns(const Candidates *some, const float *compared, const Traits *traits, int64_t length, float rarity,
                        float weight, double *sums, int64_t *order)
{
    for (int64_t column = 0; column < COMPARED; column++)
        memcpy(column_of(some, COMPARED_AT[column]), compared + column * some->codes,
               (size_t)some->codes * sizeof *compared);
    add_masses(some);
    add_shares(some, traits, sums);
    add_rank(some, order);
    for (int64_t code = 0; code < some->codes; code++) {
        for (int64_t trait = 0; trait < TRAITS; trait++)
            column_of(some, C_TRAITS + trait)[code] = traits->values[trait][some->code[code]];
        column_of(some, C_QUERY_WORDS)[code] = (float)length;
        column_of(some, C_QUERY_RARITY)[code] = rarity;
        column_of(some, C_QUERY_WEIGHT)[code] = weight;
    }
    for (int64_t column = 0; column < RELATIVES; column++) {
        const float *own = column_of(some, column);
        float best = most_of(own, some->codes), *found = column_of(some, C_RELATIVE + column);
        for (int64_t code = 0; code < some->codes; code++)
            found[code] = own[code] - best;
    }
}

/* --- shares and what they mean ---------------------------------------------------------------------------------- */

/* The calibrated probability of a share, between the points that it lies between. */
static float calibrated(const Networks *networks, float share)
{
    const float *raw = networks->raw, *meant = networks->calibrated;
    int64_t low = 0, high = networks->points - 1;
    if (share <= raw[0])
        return meant[0];
    if (share >= raw[high])
        return meant[high];
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (raw[middle] <= share)
            low = middle;
        else
            high = middle;
    }
    double slope = ((double)meant[high] - (double)meant[low]) / ((double)raw[high] - (double)raw[low]);
    return (float)(slope * ((double)share - (double)raw[low]) + (double)meant[low]);
}

/* logits become shares, with "none of these" in the sum. */
static void share_out(const Networks *networks, const Candidates *some, float *logits)
{
    float none = 0, total = 0;
    for (int64_t at = 0; at < networks->nones; at++)
        none += most_of(column_of(some, networks->none_columns[at]), some->codes) * networks->none[at];
    none += networks->none[networks->nones];
    float top = larger(most_of(logits, some->codes), none);
    for (int64_t code = 0; code < some->codes; code++) {
        logits[code] = expf(logits[code] - top);
        total += logits[code];
    }
    total += expf(none - top);
    for (int64_t code = 0; code < some->codes; code++)
        logits[code] /= total;
}

/* The places of the `most` largest of the shares, the largest first; equal ones in their order; how many there are. */
static int64_t largest_of(const float *shares, int64_t count, int64_t most, int64_t *places)
{
    int64_t kept = 0;
    for (int64_t at = 0; at < count; at++) {
        if (kept == most && shares[at] <= shares[places[kept - 1]])
            continue;
        int64_t place = kept < most ? kept++ : kept - 1;
        for (; place > 0 && shares[places[place - 1]] < shares[at]; place--)
            places[place] = places[place - 1];
        places[place] = at;
    }
    return kept;
}

/* --- one query after another ------------------------------------------------------------------------------------ */

/* The vector as whole numbers so small that products with int8 rows are exact (`cosines.py`); its scale. */
static float whole_of(const float *vector, int64_t dimensions, float steps, int16_t *found)
{
    float most = 0;
    for (int64_t at = 0; at < dimensions; at++)
        most = larger(most, fabsf(vector[at]));
    float scale = larger(most, 1e-9f) / steps;
    for (int64_t at = 0; at < dimensions; at++)
        found[at] = (int16_t)rintf(vector[at] / scale);
    return scale;
}

/* What the queries of a call use one after another. */
typedef struct {
    int16_t *words, *whole; /* (distinct words, dimensions), (dimensions,) */
    float *word_scales;
    int64_t *near, *wording, *ordered, *first, *best, *code, *order, *pairs, *numbers;
    float *by_word, *by_character, *by_query, *similarity, *compared, *columns, *inputs, *logits, *hidden;
    double *sums;
    Found *found;
    Run *of_words, *of_characters;
} Desk;

/* The sizes that decide how much memory a call needs. */
typedef struct {
    int64_t words, dimensions, most, stride, depth, tokens, characters, families, hidden, numbers, longest;
} Sizes;

static size_t lay_out(Desk *desk, const Sizes *size, char *memory)
{
    Heap heap = {memory, 0};
    size_t most = (size_t)size->most, stride = (size_t)size->stride, wide = (size_t)size->dimensions;
    desk->words = take(&heap, (size_t)size->words * wide * sizeof(int16_t));
    desk->whole = take(&heap, wide * sizeof(int16_t));
    desk->word_scales = take(&heap, (size_t)size->words * sizeof(float));
    int64_t **numbers[] = {&desk->near, &desk->wording, &desk->ordered, &desk->first, &desk->best, &desk->code,
                           &desk->order};
    for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++)
        *numbers[at] = take(&heap, most * sizeof(int64_t));
    desk->pairs = take(&heap, 2 * most * sizeof(int64_t));
    desk->numbers = take(&heap, (size_t)size->numbers * sizeof(int64_t));
    float **values[] = {&desk->by_word, &desk->by_character, &desk->similarity, &desk->logits};
    for (size_t at = 0; at < sizeof values / sizeof *values; at++)
        *values[at] = take(&heap, stride * sizeof(float));
    desk->by_query = take(&heap, 2 * (size_t)size->longest * sizeof(float));
    desk->compared = take(&heap, COMPARED * most * sizeof(float));
    desk->columns = take(&heap, WIDTH * stride * sizeof(float));
    desk->inputs = take(&heap, WIDTH * stride * sizeof(float));
    desk->hidden = take(&heap, (size_t)size->hidden * ABREAST * sizeof(float));
    desk->sums = take(&heap, (size_t)size->families * sizeof(double));
    desk->found = take(&heap, (size_t)size->depth * sizeof(Found));
    desk->of_words = take(&heap, (size_t)size->tokens * sizeof(Run));
    desk->of_characters = take(&heap, (size_t)size->characters * sizeof(Run));
    return heap.used;
}

/* The most tokens that a query has in a BM25. */
static int64_t most_tokens(const Spelled *spelled, const Tokens *tokens)
{
    int64_t most = 0;
    for (int64_t query = 0; query < spelled->queries; query++) {
        const int64_t *words = spelled->words + query * spelled->longest;
        int64_t count = 0;
        for (int64_t at = 0; at < spelled->length[query]; at++)
            count += tokens->start[words[at] + 1] - tokens->start[words[at]];
        most = count > most ? count : most;
    }
    return most;
}

static Sizes sizes_of(const Index *index, const Texts *texts, int64_t nears)
{
    const Spelled *spelled = &texts->spelled;
    int64_t extra = index->catalog->words.most + index->catalog->characters.most, most = nears + extra;
    int64_t families = index->traits->categories > index->traits->parents ? index->traits->categories
                                                                          : index->traits->parents;
    const Networks *networks = index->networks;
    int64_t hidden = networks ? networks->hidden * networks->networks + networks->narrow : 0;
    return (Sizes){texts->words, texts->dimensions, most, (most + ABREAST - 1) / ABREAST * ABREAST,
                   index->depth > nears ? index->depth : nears, most_tokens(spelled, &spelled->by_word),
                   most_tokens(spelled, &spelled->by_character), families, hidden, 2 * most + extra, spelled->longest};
}

/* Numbers that the matches of a call may take: some MB, whatever is searched together. */
enum { MATCHES = 1 << 20 };

/* Room for so many words of the catalog more; what was matched is forgotten where there would be too many. Not 0 where
 * there is no memory. */
static int64_t make_room(Matches *matches, int64_t more)
{
    if ((matches->matched + more) * matches->words > MATCHES)
        forget(matches);
    if (matches->matched + more <= matches->room)
        return 0;
    int64_t room = 2 * (matches->matched + more);
    float *match = realloc(matches->match, (size_t)(room * matches->words) * sizeof *match);
    if (match)
        matches->match = match;
    int32_t *word = realloc(matches->word, (size_t)room * sizeof *word);
    if (word)
        matches->word = word;
    if (!match || !word)
        return -1;
    matches->room = room;
    return 0;
}

/* The columns of one query; -1 where there is no memory. */
static int64_t columns_of_one(const Index *index, const Texts *texts, int64_t query, const int64_t *near, int64_t nears,
                              const Room *room, const Desk *desk, Matches *matches, Candidates *some)
{
    const Known *known = index->known;
    int64_t longest = texts->spelled.longest, length = texts->spelled.length[query], counts[2], words = 0;
    const int64_t *own = texts->spelled.words + query * longest;
    Spelled spelled = texts->spelled;
    spelled.words = own;
    spelled.length += query;
    spelled.queries = 1;
    float steps = (float)(WHOLE / (LARGEST * texts->dimensions));
    float scale = whole_of(texts->vectors + query * texts->dimensions, texts->dimensions, steps, desk->whole);
    if (index->graph)
        nearest(index->graph, desk->whole, 1, nears, index->depth, room->visits, room->visited, desk->found, desk->near);
    look_at(index->catalog, &spelled, room, index->graph ? desk->near : near + query * nears, nears, desk->wording,
            desk->by_word, desk->by_character, counts);
    Asked asked = {own, length, desk->words, desk->word_scales, texts->idf, texts->word_weight, desk->whole, scale,
                   texts->weight[query], texts->dimensions};
    int64_t codes = nearest_first(&asked, known, desk->wording, counts[0], desk->pairs, desk->ordered, desk->similarity,
                                  desk->first);
    for (int64_t at = 0; at < counts[0]; at++) {
        int64_t start = known->word_start[desk->ordered[at]], behind = known->word_start[desk->ordered[at] + 1];
        __builtin_prefetch(known->word + start);
        words += behind - start;
    }
    if (make_room(matches, words))
        return -1;
    if (codes)
        compare(&asked, known, desk->ordered, desk->similarity, counts[0], desk->first, codes, matches, desk->by_query,
                desk->compared, desk->best);
    float rarity = 0;
    for (int64_t at = 0; at < length; at++)
        rarity += texts->idf[own[at]];
    for (int64_t at = 0; at < codes; at++)
        desk->code[at] = index->codes[known->row[desk->best[at]]];
    *some = (Candidates){codes, counts[0], (codes + ABREAST - 1) / ABREAST * ABREAST, desk->first, desk->best,
                         desk->similarity, desk->by_word, desk->by_character, desk->code, desk->columns};
    if (codes)
        add_columns(some, desk->compared, index->traits, length, rarity, texts->weight[query], desk->sums, desk->order);
    return codes;
}

/* Rank the candidates by their shares; the best of them are written behind `found`. */
static int64_t rank_one(const Index *index, const Candidates *some, const Desk *desk, Ranked *found)
{
    const Networks *networks = index->networks;
    for (int64_t column = 0; column < WIDTH; column++) {
        float *own = desk->inputs + column * some->stride;
        const float *values = column_of(some, column);
        for (int64_t code = 0; code < some->codes; code++)
            own[code] = (values[code] - networks->mean[column]) * networks->scale[column];
        for (int64_t code = some->codes; code < some->stride; code++)
            own[code] = 0;
    }
    logits_of(networks, desk->inputs, some->codes, some->stride, desk->hidden, desk->logits);
    share_out(networks, some, desk->logits);
    int64_t kept = largest_of(desk->logits, some->codes, index->kept, desk->order);
    for (int64_t place = 0; place < kept; place++) {
        int64_t at = desk->order[place];
        *found->code++ = some->code[at];
        *found->wording++ = some->best[at];
        *found->share++ = desk->logits[at];
        *found->probability++ = calibrated(networks, desk->logits[at]);
    }
    return kept;
}

/* What was found for a query before, as `rank_one` writes it. */
static int64_t answer(const Index *index, const Answers *answers, int64_t entry, Ranked *found)
{
    int64_t first = answers->start[entry], kept = answers->start[entry + 1] - first;
    for (int64_t at = first; at < first + kept; at++) {
        *found->code++ = index->codes[index->known->row[answers->wording[at]]];
        *found->wording++ = answers->wording[at];
        *found->share++ = answers->share[at];
        *found->probability++ = calibrated(index->networks, answers->share[at]);
    }
    return kept;
}

/* All candidates with their columns (codes, WIDTH), where there is no ranking model. */
static void copy_out(const Candidates *some, Ranked *found)
{
    for (int64_t code = 0; code < some->codes; code++) {
        *found->code++ = some->code[code];
        *found->wording++ = some->best[code];
        for (int64_t column = 0; column < WIDTH; column++)
            *found->columns++ = column_of(some, column)[code];
    }
}

/* The best codes of each query, or, without a ranking model, all candidates with their columns; `counts` (queries,): how
 * many of each; none of one without words. `near` (queries, nears) where the index has no graph. -1 where there is no memory. */
int64_t rank(const Index *index, const Texts *texts, const Room *room, const int64_t *near, int64_t nears,
             int64_t *counts, Ranked *found)
{
    Desk desk;
    Room own = *room;
    Ranked written = *found;
    Sizes size = sizes_of(index, texts, nears);
    char *memory = malloc(lay_out(&desk, &size, NULL) + 64);
    if (!memory)
        return -1;
    lay_out(&desk, &size, memory + (64 - (uintptr_t)memory % 64));
    memset(desk.sums, 0, (size_t)size.families * sizeof *desk.sums);
    own.of_words = desk.of_words;
    own.of_characters = desk.of_characters;
    own.numbers = desk.numbers;
    float steps = (float)(WHOLE / (LARGEST * texts->dimensions));
    for (int64_t word = 0; word < texts->words; word++)
        desk.word_scales[word] = whole_of(texts->word_vectors + word * texts->dimensions, texts->dimensions, steps,
                                          desk.words + word * texts->dimensions);
    Matches matches = {room->words, NULL, NULL, texts->words, 0, 0};
    int64_t done = 0;
    for (int64_t query = 0; query < texts->spelled.queries && done >= 0; query++) {
        Candidates some;
        if (texts->answers && texts->answered[query] >= 0) {
            counts[query] = answer(index, texts->answers, texts->answered[query], &written);
            continue;
        }
        done = texts->spelled.length[query]
                   ? columns_of_one(index, texts, query, near, nears, &own, &desk, &matches, &some)
                   : 0;
        counts[query] = done;
        if (done > 0 && index->networks)
            counts[query] = rank_one(index, &some, &desk, &written);
        else if (done > 0)
            copy_out(&some, &written);
    }
    forget(&matches);
    free(matches.match);
    free(matches.word);
    free(memory);
    return done < 0 ? -1 : 0;
}
