"""The public surface is short, sorted, documented, and means what it says."""

from __future__ import annotations

import importlib
import inspect

import pytest

PACKAGES = ("sandtrail.ledgers", "sandtrail.fakes", "sandtrail.scenarios", "sandtrail.sandbox")
LONGEST = 24


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_exists_and_says_what_it_is(package: str) -> None:
    module = importlib.import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    assert len(module.__all__) <= LONGEST
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.isclass(found) or inspect.isfunction(found):
            assert inspect.getdoc(found), f"{package}.{name} has no docstring"
            assert found.__module__.startswith(package)


def test_the_sandbox_package_is_short_enough_to_read() -> None:
    sandbox = importlib.import_module("sandtrail.sandbox")
    assert len(sandbox.__all__) <= 20
    assert dir(sandbox) == sorted(sandbox.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Sandbx'"):
        sandbox.Sandbx  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_class_and_function_has_a_docstring(package: str) -> None:
    root = importlib.import_module(package)
    folder = root.__path__[0]
    from pathlib import Path

    for file in sorted(Path(folder).glob("*.py")):
        module = importlib.import_module(package if file.stem == "__init__" else f"{package}.{file.stem}")
        assert module.__doc__, f"{module.__name__} has no docstring"
        for name, found in vars(module).items():
            own = getattr(found, "__module__", None) == module.__name__
            if own and not name.startswith("_") and (inspect.isclass(found) or inspect.isfunction(found)):
                assert inspect.getdoc(found), f"{module.__name__}.{name} has no docstring"
