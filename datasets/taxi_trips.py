"""Trips of New York's yellow taxis, as the Taxi and Limousine Commission publishes them."""

from cepbench.datasets.base import Dataset, Derived, Ranked, RawColumn, RawLayout
from cepbench.datasets.expressions import seconds, selective
from cepbench.events.schema import Kind

_COLUMNS = (
    RawColumn("VendorID", "BIGINT"),
    RawColumn("tpep_pickup_datetime", "STRING"),
    RawColumn("passenger_count", "DOUBLE"),
    RawColumn("trip_distance", "DOUBLE"),
    RawColumn("PULocationID", "BIGINT"),
    RawColumn("DOLocationID", "BIGINT"),
    RawColumn("payment_type", "BIGINT"),
    RawColumn("total_amount", "DOUBLE"),
)
_ROW = tuple(column.name for column in _COLUMNS)

NYC_TAXI = Dataset(
    name="nyc_taxi",
    summary="Yellow taxi trips of New York City; the zone of the pick-up is the event type.",
    paper="dissertation 25.1; Hamlet 6.1; Gloria 8.1",
    source=(
        "TLC Trip Record Data, NYC Taxi and Limousine Commission, "
        "https://www.nyc.gov/site/tlc/about/tlc-trip-record-data.page; files with zones, from July 2016 on"
    ),
    license="NYC Open Data terms of use; no warranty of completeness or accuracy",
    layouts=(
        RawLayout(files="yellow_tripdata_*.parquet", columns=_COLUMNS, format="parquet", named=True),
        RawLayout(files="yellow_tripdata_*.csv*", columns=_COLUMNS, options={"header": "true"}, named=True),
    ),
    needed=("VendorID", "tpep_pickup_datetime", "PULocationID", "DOLocationID", "trip_distance", "total_amount"),
    time=seconds("tpep_pickup_datetime"),
    time_unit="s",
    types={"zone": "concat('Zone', PULocationID_rank)"},
    attributes=(
        Derived("vehicle", Kind.INT, "VendorID"),
        Derived("vendor", Kind.INT, "VendorID"),
        Derived("pickup", Kind.INT, "PULocationID_rank"),
        Derived("dropoff", Kind.INT, "DOLocationID_rank"),
        Derived("pickup_location", Kind.INT, "PULocationID"),
        Derived("dropoff_location", Kind.INT, "DOLocationID"),
        Derived("passengers", Kind.INT, "passenger_count"),
        Derived("distance", Kind.FLOAT, "trip_distance"),
        Derived("price", Kind.INT, "round(total_amount)"),
        Derived("payment", Kind.STRING, "CASE payment_type WHEN 1 THEN 'card' WHEN 2 THEN 'cash' ELSE 'other' END"),
        *selective(*_ROW),
    ),
    order=("vendor", "pickup", "dropoff", "distance", "price", "score"),
    key=("vendor",),
    ranked=(Ranked(("PULocationID", "DOLocationID")),),
    stand_in="taxi",
    absent={"rider": "the commission does not publish who rode"},
    figures={
        "zone": ("sharon-25.5", "hamlet-11-taxi"),
    },
    note=(
        "Times are seconds since 1970-01-01 on the city's clock, which repeats an hour each autumn. Zones are numbered "
        "by how many trips begin or end there: Zone0 has most; `pickup_location` and `dropoff_location` are the "
        "commission's numbers. It does not publish vehicles: `vehicle` is the vendor, too. `price` is the total, in "
        "whole dollars; corrections with a negative one are kept. Older trips often lack the passengers (null). "
        "`score` and `bound` are hashes of the row."
    ),
)  # fmt: skip
