"""Names of bus journeys: three capital letters, beginning with those that the authors of Gloria use in their queries.

The workloads that they published (Gloria, Section 8.1) name 121 journeys. A chain of 23 makes the sub-patterns that
queries share: the first of them, then a run of consecutive others. Each of the other 98 is the first or last type of
queries.
"""

from itertools import islice, product
from string import ascii_uppercase

CHAIN = (
    "TOQ", "WBA", "MKV", "YXT", "TMR", "XBL", "BPG", "YSA", "GJE", "PAV", "QVO", "KMU",
    "CME", "IRX", "GJX", "RDJ", "MFW", "PHL", "HYD", "BVG", "VUC", "IUF", "SNH",
)  # fmt: skip
ENDS = (
    "AOE", "APT", "ASN", "BGX", "BJG", "BLE", "BLZ", "BPV", "CKG", "CKW", "CYJ", "DAX", "DOP", "DPS", "DSO",
    "EFB", "EGX", "EIS", "EJG", "EQR", "EVO", "FMP", "FOL", "FUQ", "FXO", "GUP", "GVN", "GXA", "GXJ", "HAI",
    "HCK", "HFY", "HGK", "HLR", "HRS", "HUE", "HZC", "IFM", "IJK", "IMK", "IXO", "JCN", "JKX", "JPC", "JSI",
    "JSU", "JTZ", "JVF", "JXH", "KGX", "KJC", "KPI", "LTM", "LXH", "MCF", "MEC", "MEW", "MHF", "MRE", "NKE",
    "NMA", "NMT", "NVH", "OYU", "PFE", "PHX", "PSE", "QFZ", "QOS", "SGM", "SLJ", "SNK", "TRD", "ULO", "UQE",
    "URH", "USR", "UWY", "UXD", "UZM", "VBP", "VEA", "VZU", "WAJ", "WZS", "XJM", "XOS", "XPG", "XUO", "YBS",
    "YMF", "ZAL", "ZHJ", "ZKH", "ZPE", "ZSX", "ZTM", "ZVO",
)  # fmt: skip
MAX_JOURNEYS = len(ascii_uppercase) ** 3


def journey_names(count: int) -> tuple[str, ...]:
    """The first `count` <= `MAX_JOURNEYS` names: those of `CHAIN`, of `ENDS`, then all others in alphabetical order."""
    published = (*CHAIN, *ENDS)
    used = set(published)
    every = ("".join(letters) for letters in product(ascii_uppercase, repeat=3))
    others = islice((name for name in every if name not in used), max(0, count - len(published)))
    return (*published[:count], *others)
