"""From a phrase to scored codes: wordings, vectors, retrieval, ranking."""

from clinical.search.answers import FILE as ANSWERS
from clinical.search.answers import answers_of, load_answers, save_answers
from clinical.search.bm25 import FILES
from clinical.search.bounds import REMEDY, ArraySizes, Bound, check, json_of, require
from clinical.search.encoder import Encoder, StaticEncoder, TransformerEncoder, Vectors, vocabulary_of
from clinical.search.features import Candidates, candidates
from clinical.search.hits import Hits, joined, merged, merged_by_part
from clinical.search.manifest import Manifest, checksum, checksums
from clinical.search.native.graph import Graph
from clinical.search.native.spoken import AnswerTables
from clinical.search.native.tagged import TILE, Tagging, TaggingWeights
from clinical.search.neighbours import built, nearest
from clinical.search.ranking import NONE_COLUMNS, WIDTH, Ranker, summary
from clinical.search.retrieval import read_queries
from clinical.search.runs import Ints, lengths, ranges, run_starts
from clinical.search.scoring import Scorer
from clinical.search.suggest import FILE as SUGGEST
from clinical.search.suggest import MATCH, KnownPatient, Suggester
from clinical.search.tensors import map_tensors, write_tensors
from clinical.search.terms import Wordings
from clinical.search.traits import CodeTraits, traits_of
from clinical.search.words.expansion import Expansion
from clinical.search.words.numerals import Numerals
from clinical.search.words.shortened import KnownWords, Shortened
from clinical.search.words.typos import Typos
