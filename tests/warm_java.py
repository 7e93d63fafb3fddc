"""Uses Spark as tests do, and waits for the end of its Java, which archives the classes that it has loaded
(`scripts/setup.sh`).
"""

import tempfile
from pathlib import Path

import pandas as pd
from pyspark import SparkContext

from cepbench.pipeline.distributed import evaluate_on_spark
from cepbench.pipeline.session import session, stop

MASTER = "local[2]"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.csv"
        pd.DataFrame({"time": range(100), "type": ["A", "B"] * 50, "g": ["u", "v"] * 50}).to_csv(events, index=False)
        evaluate_on_spark("RETURN g, COUNT(*) PATTERN SEQ(A, B) GROUP-BY g", events, "cogra", master=MASTER)
        session(MASTER).range(10).selectExpr("sum(id)").toPandas()
    java = SparkContext._gateway.proc
    stop()
    java.stdin.close()
    java.wait()


if __name__ == "__main__":
    main()
