"""How much of the query language an algorithm is for."""

BROAD = ("sase", "greta", "cogra", "aseq")
"""Algorithms of whole query languages; one for few queries need not reach their share of cases."""
