/* The nearest wordings by a graph that FAISS has built (HNSW, Malkov and Yashunin 2018), searched with whole numbers.
 *
 * The search is that of the paper: down the upper levels by the nearest neighbour, then on the lowest one the `depth`
 * nearest found so far are expanded, the nearest first, until each of them has been. The products are those of
 * `columns.c`, exact in any order, and the rows those of the artifact. What FAISS's own search keeps beside them is
 * decoded to floats for every comparison, which took two thirds of its time.
 */
#include "loops.h"

static inline int32_t number_of(const Found *one) { return one->mark >> 1; }

static inline __attribute__((always_inline)) float similarity_to(const Graph *graph, const int16_t *asked, int64_t number)
{
    return cosine_of(asked, 1, graph->rows, graph->scales, number, graph->dimensions);
}

/* The neighbours of a wording at a level: where they begin, and how many places they may take. */
static inline const Mapped *neighbours_of(const Graph *graph, int64_t number, int64_t level, int64_t *most)
{
    *most = graph->before_level[level + 1] - graph->before_level[level];
    return graph->neighbours + graph->start[number] + graph->before_level[level];
}

/* Ask for the memory of a wording, which mostly lies in no cache, before it is needed. */
static inline void fetch(const Graph *graph, int64_t number)
{
    const char *row = (const char *)(graph->rows + number * graph->dimensions), *end = row + graph->dimensions;
    for (const char *line = (const char *)((uintptr_t)row & ~(uintptr_t)63); line < end; line += 64)
        __builtin_prefetch(line);
    __builtin_prefetch(graph->scales + number);
    __builtin_prefetch(graph->start + number);
}

static inline void fetch_neighbours(const Graph *graph, int64_t number)
{
    const char *first = (const char *)(graph->neighbours + graph->start[number]);
    for (int64_t at = 0; at < graph->before_level[1] * (int64_t)sizeof(int32_t); at += 64)
        __builtin_prefetch(first + at);
}

/* From the entry down to the lowest level, at each to the nearest that can be reached. */
static inline __attribute__((always_inline)) Found descend(const Graph *graph, const int16_t *asked)
{
    Found nearest = {similarity_to(graph, asked, graph->entry), (int32_t)(graph->entry << 1)};
    for (int64_t level = graph->levels; level > 0; level--)
        for (int32_t from = -1; from != number_of(&nearest);) {
            int64_t most;
            from = number_of(&nearest);
            const Mapped *others = neighbours_of(graph, from, level, &most);
            for (int64_t at = 0; at < most && others[at] >= 0; at++) {
                float similarity = similarity_to(graph, asked, others[at]);
                if (similarity > nearest.similarity)
                    nearest = (Found){similarity, others[at] << 1};
            }
        }
    return nearest;
}

/* Put one among the nearest so far, the most similar first; its place, or `kept` where it is none of them. */
static inline int64_t insert(Found *best, int64_t *kept, int64_t depth, Found one)
{
    int64_t low = 0;
    for (int64_t size = *kept, half; size > 0; size -= half) {
        half = (size + 1) / 2;
        low += best[low + half - 1].similarity >= one.similarity ? half : 0; /* no branch, of which half go wrong */
    }
    if (low == depth)
        return *kept;
    int64_t moved = (*kept < depth ? *kept : depth - 1) - low;
    memmove(best + low + 1, best + low, (size_t)moved * sizeof *best);
    best[low] = one;
    *kept += *kept < depth;
    return low;
}

/* Compare the neighbours of a wording that have not been seen; the first place where the nearest have changed. */
static inline __attribute__((always_inline)) int64_t expand(const Graph *graph, const int16_t *asked, int32_t number,
                                                            uint8_t *seen, int32_t *visited, int64_t *visits,
                                                            Found *best, int64_t *kept, int64_t depth)
{
    int64_t most, begun = *visits, changed = depth;
    const Mapped *others = neighbours_of(graph, number, 0, &most);
    for (int64_t at = 0; at < most && others[at] >= 0; at++)
        if (!seen[others[at]]) {
            seen[others[at]] = 1;
            visited[(*visits)++] = others[at];
            fetch(graph, others[at]);
        }
    for (int64_t at = begun; at < *visits; at++) {
        float similarity = similarity_to(graph, asked, visited[at]);
        if (*kept < depth || similarity > best[depth - 1].similarity) {
            int64_t place = insert(best, kept, depth, (Found){similarity, visited[at] << 1});
            changed = place < changed ? place : changed;
            fetch_neighbours(graph, visited[at]);
        }
    }
    return changed;
}

/* near (queries, count): the numbers of the nearest wordings, the nearest first, -1 where there are fewer. `depth`: how
 * many are expanded, at least `count`. `seen`: one for each wording, all 0 before and after; `visited` has room for as
 * many, `best` for `depth`. */
FOR_EACH_PROCESSOR void nearest(const Graph *graph, const int16_t *asked, int64_t queries, int64_t count, int64_t depth,
                                uint8_t *seen, int32_t *visited, Found *best, int64_t *near)
{
    for (int64_t query = 0; query < queries; query++, near += count, asked += graph->dimensions) {
        int64_t kept = 1, visits = 1, place = 0;
        best[0] = descend(graph, asked);
        visited[0] = number_of(best);
        seen[visited[0]] = 1;
        while (place < kept) {
            if (best[place].mark & 1) {
                place++;
                continue;
            }
            best[place].mark |= 1;
            int64_t changed = expand(graph, asked, number_of(best + place), seen, visited, &visits, best, &kept, depth);
            place = changed <= place ? changed : place + 1;
        }
        for (int64_t at = 0; at < count; at++)
            near[at] = at < kept ? number_of(best + at) : -1;
        for (int64_t at = 0; at < visits; at++)
            seen[visited[at]] = 0;
    }
}
