"""Shared by the tests of benchmarks/cluster and of plans: the modules of the benchmark, and the tools of the build."""
import os
import shlex
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CLUSTER = os.path.join(TOP, "benchmarks", "cluster")
sys.path += [os.path.join(TOP, "test"), CLUSTER]
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
COMPILER = shlex.split(os.environ.get("CC", "mpicc"))
MPIEXEC = shlex.split(os.environ.get("MPIEXEC", "mpiexec"))
YIELD = "" if os.environ.get("PNC_TEST_YIELD", "no") == "no" else os.environ["PNC_TEST_YIELD"]
