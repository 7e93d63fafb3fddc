"""The papers of the algorithms as BibTeX."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """One entry; `where` is a conference, a journal or a university."""

    key: str
    authors: str
    title: str
    where: str
    year: int
    pages: str = ""
    kind: str = "inproceedings"
    doi: str = ""

    def bibtex(self) -> str:
        """The entry as BibTeX."""
        place = {"inproceedings": "booktitle", "article": "journal", "phdthesis": "school"}[self.kind]
        fields = {"author": self.authors, "title": self.title, place: self.where, "year": str(self.year)}
        fields |= {name: text for name, text in (("pages", self.pages), ("doi", self.doi)) if text}
        lines = [f"  {name} = {{{text}}}," for name, text in fields.items()]
        return "\n".join((f"@{self.kind}{{{self.key},", *lines, "}"))


DISSERTATION = Paper(
    "poppe2018dissertation", "Olga Poppe", "Event stream analytics", "Worcester Polytechnic Institute", 2018,
    kind="phdthesis",
)  # fmt: skip
SASE = Paper(
    "wu2006sase",
    "Eugene Wu and Yanlei Diao and Shariq Rizvi",
    "High-performance complex event processing over streams",
    "SIGMOD",
    2006,
    "407--418",
)
SASE_COMPLEXITY = Paper(
    "zhang2014complexity",
    "Haopeng Zhang and Yanlei Diao and Neil Immerman",
    "On complexity and optimization of expensive queries in complex event processing",
    "SIGMOD",
    2014,
    "217--228",
)
ASEQ = Paper(
    "qi2014aseq",
    "Yingmei Qi and Lei Cao and Medhabi Ray and Elke A. Rundensteiner",
    "Complex event analytics: Online aggregation of stream sequence patterns",
    "SIGMOD",
    2014,
    "229--240",
)
SPASS = Paper(
    "ray2016spass",
    "Medhabi Ray and Chuan Lei and Elke A. Rundensteiner",
    "Scalable pattern sharing on event streams",
    "SIGMOD",
    2016,
    "495--510",
)
CET = Paper(
    "poppe2017cet",
    "Olga Poppe and Chuan Lei and Salah Ahmed and Elke A. Rundensteiner",
    "Complete event trend detection in high-rate event streams",
    "SIGMOD",
    2017,
    "109--124",
)
GRETA = Paper(
    "poppe2017greta",
    "Olga Poppe and Chuan Lei and Elke A. Rundensteiner and David Maier",
    "{GRETA}: Graph-based real-time event trend aggregation",
    "PVLDB",
    2017,
    "80--92",
    kind="article",
)
SHARON = Paper(
    "poppe2018sharon",
    "Olga Poppe and Allison Rozet and Chuan Lei and Elke A. Rundensteiner and David Maier",
    "{Sharon}: Shared online event sequence aggregation",
    "ICDE",
    2018,
)
COGRA = Paper(
    "poppe2019cogra",
    "Olga Poppe and Chuan Lei and Elke A. Rundensteiner and David Maier",
    "Event trend aggregation under rich event matching semantics",
    "SIGMOD",
    2019,
    "555--572",
)
HAMLET = Paper(
    "poppe2021hamlet",
    "Olga Poppe and Chuan Lei and Lei Ma and Allison Rozet and Elke A. Rundensteiner",
    "To share, or not to share online event trend aggregation over bursty event streams",
    "SIGMOD",
    2021,
    "1452--1464",
)
GLORIA = Paper(
    "ma2022gloria",
    "Lei Ma and Chuan Lei and Olga Poppe and Elke A. Rundensteiner",
    "{Gloria}: Graph-based sharing optimizer for event trend aggregation",
    "SIGMOD",
    2022,
    doi="10.1145/3514221.3526145",
)
MCEP = Paper(
    "kolchinsky2019mcep",
    "Ilya Kolchinsky and Assaf Schuster",
    "Real-time multi-pattern detection over event streams",
    "SIGMOD",
    2019,
)
CORE = Paper(
    "bucchi2022core",
    "Marco Bucchi and Alejandro Grez and Andr{\\'e}s Quintana and Cristian Riveros and Stijn Vansummeren",
    "{CORE}: a complex event recognition engine",
    "PVLDB",
    2022,
    "1951--1964",
    kind="article",
    doi="10.14778/3538598.3538615",
)

FLINK = Paper(
    "carbone2015flink",
    "Paris Carbone and Asterios Katsifodimos and Stephan Ewen and Volker Markl and Seif Haridi and Kostas Tzoumas",
    "Apache Flink: Stream and batch processing in a single engine",
    "IEEE Data Engineering Bulletin",
    2015,
    "28--38",
    kind="article",
)

DUCKDB = Paper(
    "raasveldt2019duckdb",
    'Mark Raasveldt and Hannes M{\\"u}hleisen',
    "{DuckDB}: an embeddable analytical database",
    "SIGMOD",
    2019,
    "1981--1984",
)
JOINS = Paper(
    "ziehn2024bridging",
    "Ariane Ziehn and Philipp M. Grulich and Steffen Zeuch and Volker Markl",
    "Bridging the gap: Complex event processing on stream processing systems",
    "EDBT",
    2024,
)

PAPERS: dict[str, tuple[Paper, ...]] = {
    "sase": (SASE, SASE_COMPLEXITY),
    "greta": (GRETA, DISSERTATION),
    "cogra": (COGRA, DISSERTATION),
    "cet": (CET, DISSERTATION),
    "aseq": (ASEQ,),
    "sharon": (SHARON, DISSERTATION),
    "spass": (SPASS,),
    "hamlet": (HAMLET,),
    "gloria": (GLORIA,),
    "mcep": (MCEP,),
    "core": (CORE,),
    "core-engine": (CORE,),
    "flink": (FLINK, DISSERTATION),
    "duckdb": (DUCKDB, JOINS),
}
"""By the name of the algorithm, the one that introduced it first."""


def bibliography(names: Iterable[str]) -> str:
    """The papers of algorithms, each once, as a BibTeX file."""
    found = dict.fromkeys(paper for name in names for paper in PAPERS.get(name, ()))
    return "\n\n".join(paper.bibtex() for paper in found)
