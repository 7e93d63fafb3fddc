"""The schema of a stream before its first event."""

from cepbench.events.files import FileLayout
from cepbench.events.reading import Reading
from cepbench.events.schema import Kind
from cepbench.pipeline.live.source import OTHER, schema_of
from cepbench.queries.parser import parse_query


def test_a_schema_has_the_types_and_texts_that_queries_name() -> None:
    layout = FileLayout({"s": Kind.STRING, "x": Kind.INT}, (), True, Reading(), None)
    query = parse_query(
        "PATTERN SEQ(B, NOT C, A) WHERE A.s IN ('v', 'u') AND (NOT C.s = w OR C.x < 1 AND C.s != 'z') AND B.s = 'u'"
    )
    schema = schema_of([query], layout)
    assert schema.types == ("A", "B", "C", OTHER)
    assert schema.strings == ("", "v", "u", "w", "z")
