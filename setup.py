"""The packages: the root of the repository is `cepbench`, and its folders with code are the sub-packages."""

from setuptools import find_packages, setup

setup(packages=["cepbench", *(f"cepbench.{name}" for name in find_packages())], package_dir={"cepbench": "."})
