/* From the words of some texts to their best codes in one call: tokens, vectors and weights are made here (what
 * `encoder.py` and `retrieval.py` make in numpy, to the last bit), and ranked by `rank`.
 */
#include "loops.h"

/* --- words by their letters ------------------------------------------------------------------------------------- */

/* FNV-1a (Fowler, Noll and Vo), its halves joined: the lower bits alone are those of the last letters. */
static uint64_t hash_of(const uint8_t *letters, int64_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (int64_t at = 0; at < length; at++)
        hash = (hash ^ letters[at]) * 1099511628211u;
    return hash ^ hash >> 32;
}

/* The entries of a lexicon lie one behind the other, a line end behind each. */
static int64_t number_of(const Lexicon *some, const uint8_t *letters, int64_t length)
{
    uint64_t last = (uint64_t)some->slots - 1;
    for (uint64_t slot = hash_of(letters, length) & last;; slot = (slot + 1) & last) {
        int32_t number = some->slot[slot];
        if (number < 0)
            return -1;
        int64_t start = some->start[number];
        if (some->start[number + 1] - 1 - start == length && !memcmp(some->letters + start, letters, (size_t)length))
            return number;
    }
}

/* Put the numbers of all entries into the slots, a power of two of them, more than there are entries; all -1 before. A
 * number without a word has an empty entry, which nobody looks for. */
void fill_slots(const uint8_t *letters, const int64_t *start, int64_t entries, int32_t *slot, int64_t slots)
{
    uint64_t last = (uint64_t)slots - 1;
    for (int64_t number = 0; number < entries; number++) {
        int64_t length = start[number + 1] - 1 - start[number];
        uint64_t at = hash_of(letters + start[number], length) & last;
        if (!length)
            continue;
        while (slot[at] >= 0)
            at = (at + 1) & last;
        slot[at] = (int32_t)number;
    }
}

/* --- answers ---------------------------------------------------------------------------------------------------- */

/* The words of an entry: those of a wording, or the word that stands behind the wordings. */
static inline const int32_t *words_of(const Known *known, const Answers *answers, int64_t entry, int32_t *alone,
                                      int64_t *length)
{
    if (entry >= answers->wordings) {
        *alone = (int32_t)(entry - answers->wordings);
        *length = 1;
        return alone;
    }
    *length = known->word_start[entry + 1] - known->word_start[entry];
    return known->word + known->word_start[entry];
}

static int same_words(const int32_t *one, const int32_t *other, int64_t length)
{
    return !memcmp(one, other, (size_t)length * sizeof *one);
}

/* The slot of some words: that of the entry with them, or the empty one where it would be put. */
static int64_t slot_of(const Known *known, const Answers *answers, const int32_t *words, int64_t length)
{
    uint64_t last = (uint64_t)answers->slots - 1;
    for (uint64_t slot = hash_of((const uint8_t *)words, length * (int64_t)sizeof *words) & last;;
         slot = (slot + 1) & last) {
        int32_t alone;
        int64_t size;
        if (answers->slot[slot] < 0)
            return (int64_t)slot;
        const int32_t *own = words_of(known, answers, answers->slot[slot], &alone, &size);
        if (size == length && same_words(own, words, length))
            return (int64_t)slot;
    }
}

/* Put the numbers of all entries with an answer into the slots, more of them than there are entries; all -1 before. */
void fill_answers(const Known *known, const Answers *answers, int64_t entries, int32_t *slot)
{
    for (int64_t entry = 0; entry < entries; entry++) {
        int32_t alone;
        int64_t length;
        const int32_t *words = words_of(known, answers, entry, &alone, &length);
        if (answers->start[entry] < answers->start[entry + 1])
            slot[slot_of(known, answers, words, length)] = (int32_t)entry;
    }
}

/* --- n-grams ---------------------------------------------------------------------------------------------------- */

enum { SHORTEST = 3, LONGEST = 5, GRAM = 4 }; /* characters of the n-grams of the encoder, and of the BM25 */

/* A word with a sign before and behind it, and where each of its characters begins (and, last, ends). */
typedef struct {
    uint8_t *letters;
    int64_t *at, characters;
} Bordered;

static void put_borders(Bordered *word, const uint8_t *letters, int64_t length)
{
    word->letters[0] = '<';
    memcpy(word->letters + 1, letters, (size_t)length);
    word->letters[length + 1] = '>';
    word->characters = 0;
    for (int64_t at = 0; at < length + 2; at++)
        if ((word->letters[at] & 0xC0) != 0x80) /* no later byte of a character (UTF-8) */
            word->at[word->characters++] = at;
    word->at[word->characters] = length + 2;
}

static int64_t add_number(const Lexicon *some, const Bordered *word, int64_t from, int64_t to, int64_t *numbers,
                          int64_t count)
{
    int64_t number = number_of(some, word->letters + word->at[from], word->at[to] - word->at[from]);
    if (number >= 0)
        numbers[count++] = number;
    return count;
}

/* The encoder's rows for a word: that of the whole word, then those of its n-grams; how many are known. */
static int64_t rows_of(const Lexicon *grams, const Bordered *word, int64_t *numbers)
{
    int64_t count = add_number(grams, word, 0, word->characters, numbers, 0);
    for (int64_t size = SHORTEST; size <= LONGEST && size < word->characters; size++)
        for (int64_t from = 0; from + size <= word->characters; from++)
            count = add_number(grams, word, from, from + size, numbers, count);
    return count;
}

/* The tokens of a word in the BM25 over characters; a word shorter than an n-gram is one. */
static int64_t tokens_of(const Lexicon *characters, const Bordered *word, int64_t *numbers)
{
    int64_t count = 0, last = word->characters - GRAM;
    for (int64_t from = 0; from == 0 || from <= last; from++) {
        int64_t to = from + GRAM < word->characters ? from + GRAM : word->characters;
        count = add_number(characters, word, from, to, numbers, count);
    }
    return count;
}

/* --- texts ------------------------------------------------------------------------------------------------------ */

/* Memory of a call in one piece. */
typedef struct {
    uint8_t *letters;
    int64_t *at, *numbers, *row, *rows, *start, *token, *character, *word_start, *character_start, *words, *length;
    int64_t *answered;
    int32_t *entry, *own; /* the number of each word in the catalog; those of a text's words */
    float *sums, *vectors, *weight, *idf;
} Paper;

static size_t lay_out(Paper *paper, const Spoken *some, int64_t wide, char *memory)
{
    Heap heap = {memory, 0};
    size_t letters = (size_t)some->start[some->words], words = (size_t)some->words, texts = (size_t)some->texts;
    size_t all = words + texts, grams = 4 * (letters + 4 * words), cells = (size_t)some->text_start[some->texts];
    paper->letters = take(&heap, letters + 2);
    paper->at = take(&heap, (letters + 3) * sizeof(int64_t));
    paper->numbers = take(&heap, grams * sizeof(int64_t));
    paper->row = take(&heap, words * sizeof(int64_t));
    paper->rows = take(&heap, (cells + words) * sizeof(int64_t));
    paper->start = take(&heap, (all + 1) * sizeof(int64_t));
    paper->token = take(&heap, words * sizeof(int64_t));
    paper->character = take(&heap, grams * sizeof(int64_t));
    paper->word_start = take(&heap, (words + 1) * sizeof(int64_t));
    paper->character_start = take(&heap, (words + 1) * sizeof(int64_t));
    paper->words = take(&heap, texts * (size_t)some->longest * sizeof(int64_t));
    paper->length = take(&heap, texts * sizeof(int64_t));
    paper->answered = take(&heap, texts * sizeof(int64_t));
    paper->entry = take(&heap, words * sizeof(int32_t));
    paper->own = take(&heap, (size_t)some->longest * sizeof(int32_t));
    paper->sums = take(&heap, words * (size_t)wide * sizeof(float));
    paper->vectors = take(&heap, all * (size_t)wide * sizeof(float));
    paper->weight = take(&heap, all * sizeof(float));
    paper->idf = take(&heap, words * sizeof(float));
    return heap.used;
}

/* Tokens and rarity of each word, as the catalog knows it. */
static void look_up(const Language *known, const Spoken *some, const Paper *paper)
{
    Bordered word = {paper->letters, paper->at, 0};
    int64_t tokens = 0, characters = 0;
    for (int64_t number = 0; number < some->words; number++) {
        const uint8_t *letters = some->letters + some->start[number];
        int64_t length = some->start[number + 1] - some->start[number];
        int64_t own = number_of(known->words, letters, length);
        paper->entry[number] = (int32_t)own;
        paper->word_start[number] = tokens;
        paper->character_start[number] = characters;
        paper->idf[number] = known->idf[own < 0 ? known->words->entries : own];
        if (own >= 0 && known->token[own] >= 0)
            paper->token[tokens++] = known->token[own];
        put_borders(&word, letters, length);
        characters += tokens_of(known->characters, &word, paper->character + characters);
    }
    paper->word_start[some->words] = tokens;
    paper->character_start[some->words] = characters;
}

/* The answer that each text has; -1 for none. */
static void look_for_answers(const Known *known, const Answers *answers, const Spoken *some, const Paper *paper)
{
    for (int64_t text = 0; text < some->texts; text++) {
        const int64_t *words = some->text + some->text_start[text];
        int64_t length = some->text_start[text + 1] - some->text_start[text], at = 0;
        for (; at < length && paper->entry[words[at]] >= 0; at++)
            paper->own[at] = paper->entry[words[at]];
        paper->answered[text] = at < length ? -1 : answers->slot[slot_of(known, answers, paper->own, length)];
    }
}

/* The sum of the encoder's rows for each word, one behind the other where there are any; `paper->row`: which is a
 * word's, -1 for none. -1 where there is no memory. */
static int64_t add_words(const Language *known, const Spoken *some, const Paper *paper)
{
    Bordered word = {paper->letters, paper->at, 0};
    int64_t sums = 0, numbers = 0;
    for (int64_t number = 0; number < some->words; number++) {
        put_borders(&word, some->letters + some->start[number], some->start[number + 1] - some->start[number]);
        int64_t own = rows_of(known->grams, &word, paper->numbers + numbers);
        paper->row[number] = own ? sums : -1;
        if (own)
            paper->start[sums++] = numbers;
        numbers += own;
    }
    paper->start[sums] = numbers;
    return add_runs(NULL, known->rows, known->scales, known->dimensions, paper->numbers, paper->start, sums, paper->sums);
}

/* The vectors of the texts and, behind them, of the words; those of which nothing is known are as `drawn` has them, and
 * where that is missing they are marked in `lacking` and counted. -1 where there is no memory. */
static int64_t add_texts(const Language *known, const Spoken *some, const Paper *paper, int64_t *lacking,
                         const float *drawn)
{
    int64_t wide = known->dimensions, missing = 0, filled = 0, cells = 0, all = some->texts + some->words;
    for (int64_t text = 0; text < all; text++) {
        int64_t before = cells, only = text - some->texts;
        const int64_t *own = text < some->texts ? some->text + some->text_start[text] : &only;
        int64_t length = text < some->texts ? some->text_start[text + 1] - some->text_start[text] : 1;
        for (int64_t at = 0; at < length; at++) {
            int64_t word = some->again[own[at]];
            if (word >= 0 && paper->row[word] >= 0)
                paper->rows[cells++] = paper->row[word];
        }
        lacking[text] = cells == before;
        missing += cells == before;
        if (cells > before) {
            paper->start[filled++] = before;
        }
    }
    if (missing && !drawn)
        return missing;
    paper->start[filled] = cells;
    float *vectors = paper->vectors;
    if (add_runs(paper->sums, NULL, NULL, wide, paper->rows, paper->start, filled, vectors))
        return -1;
    for (int64_t text = all - 1, from = filled - 1, next = missing - 1; text >= 0; text--) {
        const float *own = lacking[text] ? drawn + next-- * wide : vectors + from-- * wide;
        memmove(vectors + text * wide, own, (size_t)wide * sizeof *own);
    }
    scale_to_one(vectors, all, wide, paper->weight);
    return 0;
}

/* Weight of a text from which it is searched. */
static const float LEAST_TEXT = 1e-6f;

static Texts texts_of(const Language *known, const Answers *answers, const Spoken *some, const Paper *paper)
{
    int64_t texts = some->texts, wide = known->dimensions;
    for (int64_t text = 0; text < texts; text++) {
        int64_t length = some->text_start[text + 1] - some->text_start[text];
        paper->length[text] = paper->weight[text] < LEAST_TEXT ? 0 : length;
        memcpy(paper->words + text * some->longest, some->text + some->text_start[text],
               (size_t)length * sizeof *paper->words);
    }
    Spelled spelled = {paper->words, paper->length, {paper->token, paper->word_start},
                       {paper->character, paper->character_start}, texts, some->longest};
    return (Texts){spelled, paper->vectors, paper->weight, paper->vectors + texts * wide, paper->weight + texts,
                   paper->idf, answers, paper->answered, some->words, wide};
}

/* The best codes of some texts, as `rank` gives them, by an index with a graph. Where more is returned than 0, so many of
 * the texts and, behind them, the words have no known n-gram and are marked in `lacking`: the call is to be made again
 * with a vector `drawn` for each. -1 where there is no memory. `answers`: NULL where there are none. */
int64_t search(const Index *index, const Language *known, const Answers *answers, const Spoken *some, const Room *room,
               int64_t nears, int64_t *lacking, const float *drawn, int64_t *counts, Ranked *found)
{
    Paper paper;
    char *memory = malloc(lay_out(&paper, some, known->dimensions, NULL) + 64);
    if (!memory)
        return -1;
    lay_out(&paper, some, known->dimensions, memory + (64 - (uintptr_t)memory % 64));
    look_up(known, some, &paper);
    if (answers)
        look_for_answers(index->known, answers, some, &paper);
    int64_t done = add_words(known, some, &paper);
    if (!done)
        done = add_texts(known, some, &paper, lacking, drawn);
    if (!done) {
        Texts texts = texts_of(known, answers, some, &paper);
        done = rank(index, &texts, room, NULL, nears, counts, found);
    }
    free(memory);
    return done;
}
