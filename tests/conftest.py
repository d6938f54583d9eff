"""Shared by all tests: pytest's own tester, for the plugin."""

from __future__ import annotations

import os

pytest_plugins = ["pytester"]

if "PYTEST_XDIST_WORKER" in os.environ:
    # what a test starts is not measured: it is another process's doing, and would take twice as long
    os.environ.pop("COVERAGE_PROCESS_START", None)
