from cepbench.generators.journeys import CHAIN, ENDS, MAX_JOURNEYS, journey_names


def test_every_journey_has_a_name_of_its_own() -> None:
    names = journey_names(MAX_JOURNEYS)
    assert len(set(names)) == len(names) == 26**3
    assert all(len(name) == 3 and name.isalpha() and name.isupper() for name in names)


def test_fewer_are_the_first_of_more() -> None:
    names = journey_names(4368)
    assert names[:121] == (*CHAIN, *ENDS)
    assert names[121:124] == ("AAA", "AAB", "AAC")
    assert [journey_names(count) for count in (1, 23, 50, 122)] == [names[:1], names[:23], names[:50], names[:122]]
