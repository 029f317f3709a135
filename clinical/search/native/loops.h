/* What all files of the library use. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The same loop once for every processor, once for those of the last ten years, and once for those with wider vectors
 * still, where the compiler knows them; the loader takes the best. */
#if __GNUC__ >= 12
#define WIDER "arch=x86-64-v4",
#else
#define WIDER
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones(WIDER "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Loops over vectors of floats are written for 8 lanes and, where a processor has such vectors, 16: in a file that is
 * included once for each (`..._lanes.h`). A sum stays in its lane, so both round alike. */
#define JOINED(name, lanes) name##lanes
#define EXPANDED(name, lanes) JOINED(name, lanes)
#define WITH_LANES(name) EXPANDED(name, LANES)
#if __GNUC__ >= 12 && defined(__x86_64__) && !defined(__clang__)
#define SIXTEEN_LANES __attribute__((target("arch=x86-64-v4")))
static inline int has_sixteen_lanes(void) { return __builtin_cpu_supports("x86-64-v4"); }
#endif

/* Of a code: as in `compiled.py`'s `OfCodes`, the first columns of `compare`. */
enum {
    SIMILARITY, SECOND, TITLE, CENTRE, QUERY_COVERED, WORDING_COVERED, ALIGNMENT, WEIGHTED_ALIGNMENT,
    QUERY_COVERED_BY_ALL, BEST_QUERY_COVERED, BEST_WORDING_COVERED, WORST_QUERY_WORD, WORST_WORDING_WORD,
    BEST_WEIGHTED_COVERED, VERBATIM, LENGTH_RATIO, WEIGHT_DIFFERENCE, COMPARED
};

enum { WIDTH = 50, TRAITS = 6 }; /* columns of the ranking model, and those of them that belong to a code alone */

/* The largest value of a quantised row, and up to which every whole number is a float (`cosines.py`). */
enum { LARGEST = 127, WHOLE = 1 << 24 };

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

static inline __attribute__((always_inline)) float cosine_of(const int16_t *one, float scale, const int8_t *rows,
                                                             const float *scales, int64_t row, int64_t dimensions)
{
    return (float)product(one, rows + row * dimensions, dimensions) * scale * scales[row];
}

/* Memory in one piece: what is taken lies behind what was taken before, at places for vectors. Without memory
 * only its size is found. */
typedef struct {
    char *memory;
    size_t used;
} Heap;

static inline void *take(Heap *heap, size_t bytes)
{
    void *found = heap->memory ? heap->memory + heap->used : NULL;
    heap->used += (bytes + 63) / 64 * 64;
    return found;
}

void descending(const float *values, int64_t count, const int64_t *first, int64_t runs, int64_t *order);

/* --- what the files share ---------------------------------------------------------------------------------------- */

typedef struct {
    int64_t token, from, before, times; /* postings of one token of the query, and how often it has it */
} Run;

typedef struct {
    const int32_t *indices; /* the wording of each posting, ascending within a token */
    const float *added;     /* what it adds to the score of its wording */
    const int64_t *start;   /* where the postings of each token begin */
    int64_t most;           /* codes that are put forward */
} Postings;

typedef struct {
    Postings words, characters;
    const int64_t *row, *starts, *ends; /* the code of each wording; the wordings of each code */
    int64_t wordings;
} Catalog;

/* The tokens of each distinct word of the queries lie in `token` from its `start` to before the next one's. */
typedef struct {
    const int64_t *token, *start;
} Tokens;

/* Words (Q, longest) of each query by their numbers, how many it has, and the tokens of each distinct word. */
typedef struct {
    const int64_t *words, *length;
    Tokens by_word, by_character;
    int64_t queries, longest;
} Spelled;

/* Room: both BM25s' score of every wording (2, wordings), all 0 before and after; one for each token of both, all -1
 * before and after; runs for the most tokens of a query, of both; and numbers. */
typedef struct {
    float *scores;
    int32_t *word, *character;
    Run *of_words, *of_characters;
    int64_t *numbers;
    int32_t *words;   /* of each word of the catalog, all -1 before and after (`compare`) */
    uint8_t *visits;  /* of each wording, all 0 before and after (`nearest`) */
    int32_t *visited; /* room for as many */
} Room;

/* One query: its words by their numbers; the vectors and weights of all words of the call; its own vector. */
typedef struct {
    const int64_t *words;
    int64_t length;
    const int16_t *vectors;
    const float *scales, *idf, *weight; /* of the words */
    const int16_t *whole;
    float whole_scale, whole_weight;
    int64_t dimensions;
} Asked;

/* What words of the catalog have matched in a call: `seen` (one for each, -1 where it has not) says in which row of
 * `match` (`room`, `words`) their squared cosines with the words of the queries lie, `word` which word a row is of. */
typedef struct {
    int32_t *seen, *word;
    float *match;
    int64_t words, matched, room;
} Matches;

typedef struct {
    const int64_t *word_start;               /* where the words of each wording begin in `word` */
    const int32_t *word;                     /* numbers of the wordings' words */
    const int8_t *word_rows;                 /* their vectors */
    const float *word_scales, *idf, *weight;
    const int8_t *rows;                      /* the vector of each wording */
    const float *scales, *whole_weight;
    const int64_t *title, *row;              /* the title of each code; the code of each wording */
    const int8_t *centres;                   /* the mean vector of each code */
    const float *centre_scales;
} Known;

/* A number of a mapped file, which may lie at any place in it. */
typedef int32_t Mapped __attribute__((aligned(1)));

typedef struct {
    const int8_t *rows; /* the vector of each wording */
    const float *scales;
    const Mapped *neighbours;    /* of each wording level by level, filled up with -1 */
    const uint64_t *start;       /* where the neighbours of each wording begin */
    const int32_t *before_level; /* how many neighbours a wording has below each level */
    int64_t dimensions, entry, levels;
} Graph;

/* One of the nearest so far; the lowest bit of `mark` says whether it has been expanded, the others are its number. */
typedef struct {
    float similarity;
    int32_t mark;
} Found;

/* The ranking model: networks of two hidden layers over the columns, `hidden` and `narrow` wide (`ranking.py`). */
typedef struct {
    const float *mean, *scale, *first, *first_bias, *second, *second_bias, *last;
    const float *none; /* weights of the best values of some columns, and a constant: the logit of "none of these" */
    const int64_t *none_columns;
    const float *raw, *calibrated; /* shares, ascending, and what they mean */
    int64_t networks, hidden, narrow, nones, points;
} Networks;

/* Of each code of the catalog what holds before any query (`traits.py`). */
typedef struct {
    const float *values[TRAITS];
    const int64_t *category, *parent;
    int64_t categories, parents;
} Traits;

/* What is found for each wording and, behind the wordings, for each word by itself, made once with the catalog: the best
 * wordings of each entry from its `start` to before the next one's, with their shares; none of what stands elsewhere
 * too. `slot`: their numbers by a hash of their words (`texts.c`), -1 where there is none; a power of two of them. */
typedef struct {
    const int64_t *start;
    const int32_t *wording;
    const float *share;
    const int32_t *slot;
    int64_t wordings, slots;
} Answers;

/* Everything that is made once for a catalog. Without `graph` the nearest wordings are given, without `networks` the
 * columns are what is asked for. `codes`: the number in the catalog of each code with a wording. */
typedef struct {
    const Catalog *catalog;
    const Graph *graph;
    const Known *known;
    const Traits *traits;
    const Networks *networks;
    const int64_t *codes;
    int64_t depth, kept; /* of the search in the graph; codes kept of each query */
} Index;

/* Queries and their distinct words as the encoder sees them (`retrieval.py`): unit vectors and their weights. With
 * `answers`, which of them each query has: -1 for none. */
typedef struct {
    Spelled spelled;
    const float *vectors, *weight, *word_vectors, *word_weight, *idf;
    const Answers *answers;
    const int64_t *answered;
    int64_t words, dimensions;
} Texts;

/* Codes of queries, one query's behind the other's: the first two of all, and either shares or columns. */
typedef struct {
    int64_t *code, *wording;
    float *share, *probability, *columns;
} Ranked;

/* Words by their letters (UTF-8), one behind the other with a line end behind each, and where each begins (and, last,
 * would). `slot`: their numbers by a hash of the letters (`texts.c`), -1 where there is none; a power of two of them. */
typedef struct {
    const uint8_t *letters;
    const int64_t *start;
    const int32_t *slot;
    int64_t entries, slots;
} Lexicon;

/* What a catalog knows of words: those of its wordings with their rarity (and, last, that of an unknown one) and their
 * tokens in the BM25 over words (-1: none), the tokens of the BM25 over characters, and the encoder's table of n-grams. */
typedef struct {
    const Lexicon *words, *characters, *grams;
    const float *idf;
    const int64_t *token;
    const int8_t *rows;
    const float *scales;
    int64_t dimensions;
} Language;

/* Texts as numbers of words, one text's behind the other's, none empty; the letters of the words, and which word each is
 * for the encoder (-1: none). `longest`: words of the longest text. */
typedef struct {
    const int64_t *text, *text_start, *start, *again;
    const uint8_t *letters;
    int64_t texts, words, longest;
} Spoken;

/* The tagger: N networks; the matrices behind the entry lie in tiles (`tagging.c`). */
typedef struct {
    const int8_t *grams, *words;             /* (N, buckets, wide): rows of n-grams, and of words by themselves */
    const float *grams_scale, *words_scale;  /* (N, wide): a byte's worth in each column */
    const float *gaps;                       /* (N, marks, between): rows of what stands between words */
    const float *entry, *entry_bias;         /* from 2 * wide + told + 2 * between inputs to hidden ones */
    const int8_t *layers;                    /* depth times from three words' hidden ones to one's, in bytes */
    const float *layers_scale, *layers_bias; /* a byte's worth for each output, and its bias */
    const int8_t *joint;                     /* twice from hidden ones to as many; the bias is of the first */
    const float *joint_scale, *joint_bias;
    int64_t networks, buckets, wide, marks, between, told, hidden, depth;
} Tagger;

/* The words of texts, those of a text from its `text_start` to before the next one's: their letters (UTF-8), from `start`
 * to before the next one's, what is told of them (words, told), and the rows of the gap before and behind each. */
typedef struct {
    const uint8_t *letters;
    const int64_t *start, *text_start;
    const float *told;
    const int64_t *gaps;
    int64_t words, texts;
} SeenWords;

void look_at(const Catalog *catalog, const Spelled *spelled, const Room *room, const int64_t *near, int64_t nears,
             int64_t *wording, float *by_word, float *by_character, int64_t *counts);
void nearest(const Graph *graph, const int16_t *asked, int64_t queries, int64_t count, int64_t depth, uint8_t *seen,
             int32_t *visited, Found *best, int64_t *near);
int64_t nearest_first(const Asked *asked, const Known *known, const int64_t *wording, int64_t count, int64_t *room,
                      int64_t *ordered, float *similarity, int64_t *first);
void compare(const Asked *asked, const Known *known, const int64_t *wording, const float *similarity, int64_t count,
             const int64_t *first, int64_t codes, Matches *so_far, float *by_word, float *columns, int64_t *best);
void forget(Matches *so_far);
int64_t rank(const Index *index, const Texts *texts, const Room *room, const int64_t *near, int64_t nears,
             int64_t *counts, Ranked *found);
int64_t add_runs(const float *rows, const int8_t *small, const float *scales, int64_t dimensions, const int64_t *numbers,
                 const int64_t *start, int64_t runs, float *found);
void scale_to_one(float *rows, int64_t count, int64_t dimensions, float *lengths);
void logits_of(const Networks *networks, const float *columns, int64_t codes, int64_t stride, float *room,
               float *logits);
