"""A sweep with the test algorithms in its own process: `python -m tests.experiments.sweeping FILE RESULTS`."""

import sys
from pathlib import Path

from cepbench.experiments.planning import plan
from cepbench.experiments.sweep import run_planned
from tests.pipeline.doubles import make

if __name__ == "__main__":
    planned = plan([sys.argv[1]], make_algorithm=make)
    print(run_planned(planned, Path(sys.argv[2]), "local[2]", make_algorithm=make).run)
