"""Physical activity monitoring: the PAMAP2 recordings, and the stream that CET's authors derived from them."""

from cepbench.datasets.base import FILE, Dataset, Derived, RawColumn, RawLayout
from cepbench.events.schema import Kind

_CITATION = (
    "A. Reiss, D. Stricker: Creating and benchmarking a new dataset for physical activity monitoring, PETRA 2012; "
    "UCI Machine Learning Repository, data set 231 (PAMAP2)"
)
_LICENCE = "CC BY 4.0 (UCI Machine Learning Repository); cite the source"

_FIGURES = ("cet-8.1-activity", "cet-8.7-activity")
"""Their generator, `uniform`, has only the type A of these."""

_SENSOR_VALUES = 17  # per inertial measurement unit
_SENSORS = ("hand", "chest", "ankle")

# lying, sitting, standing, watching TV, computer work, car driving
_PASSIVE = "(1, 2, 3, 9, 10, 11)"
_SUBJECT = rf"CAST(regexp_extract({FILE}, 'subject([0-9]+)[.]dat', 1) AS BIGINT)"
_OPTIONAL = f"CASE WHEN contains({FILE}, '/Optional/') THEN 100 ELSE 0 END"

PHYSICAL_ACTIVITY = Dataset(
    name="physical_activity",
    summary="Heart rates of people at 18 physical activities (PAMAP2), from the raw recordings.",
    paper="dissertation 8.1, 19.1",
    source=_CITATION,
    license=_LICENCE,
    layouts=(
        RawLayout(
            files="*/subject*.dat",
            columns=(
                RawColumn("timestamp", "DOUBLE"),
                RawColumn("activity", "BIGINT"),
                RawColumn("heart_rate", "DOUBLE"),
                *(RawColumn(f"{sensor}_{k}", "DOUBLE") for sensor in _SENSORS for k in range(1, _SENSOR_VALUES + 1)),
            ),
            options={"header": "false", "sep": " ", "nanValue": "NaN"},
        ),
    ),
    needed=("timestamp", "activity", "heart_rate"),
    time="round(timestamp * 1000)",
    time_unit="ms",
    types={"measurement": "'Measurement'", "one": "'A'"},
    attributes=(
        Derived("person", Kind.INT, f"{_SUBJECT} + {_OPTIONAL}"),
        Derived("activity", Kind.STRING, f"CASE WHEN activity IN {_PASSIVE} THEN 'passive' ELSE 'active' END"),
        Derived("activity_id", Kind.INT, "activity"),
        Derived("rate", Kind.FLOAT, "heart_rate"),
        Derived("temperature", Kind.FLOAT, "hand_1"),
    ),
    order=("person",),
    key=("person",),
    # Activity 0 is the time between activities, to be left out; the heart rate is measured in one row of eleven.
    filter="activity IS NULL OR heart_rate IS NULL OR (activity <> 0 AND NOT isnan(heart_rate))",
    figures={"one": _FIGURES},
    note=(
        "Each recording starts its own clock, so events of different people share time stamps by chance. The 9 "
        "protocol and 5 optional recordings count as 14 people, as in the dissertation (an optional one is 100 + the "
        "subject). The dissertation names a heart rate, an activity and a person but not how it sampled the "
        "recordings; here an event is a row with a heart rate. Hand temperatures may be NaN."
    ),
)

PHYSICAL_ACTIVITY_CET = Dataset(
    name="physical_activity_cet",
    summary="The stream that CET's authors derived from PAMAP2: 17,637 events in 1,935 seconds.",
    paper="dissertation 8.1",
    source=f"published with the code of CET, github.com/olgapoppe/CET; derived from {_CITATION}",
    license=_LICENCE,
    layouts=(
        RawLayout(
            files="physical_activity_cet.dat*",
            columns=(RawColumn("second", "BIGINT"), RawColumn("id", "BIGINT"), RawColumn("compatibility", "BIGINT")),
            options={"header": "false", "sep": ","},
        ),
    ),
    needed=("second", "id", "compatibility"),
    time="second",
    time_unit="s",
    types={"report": "'Report'", "one": "'A'"},
    attributes=(Derived("id", Kind.INT, "id"), Derived("compatibility", Kind.INT, "compatibility")),
    order=("id",),
    figures={"one": _FIGURES},
    note=(
        "Person, activity and heart rate were dropped by the authors: what is left can be counted and enumerated, but "
        "neither grouped nor filtered. Events share seconds, nine on average. `compatibility` is 1 throughout."
    ),
)
