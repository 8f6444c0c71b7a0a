"""Examples are run; what is declared is there."""

import ast
import doctest
import pathlib
import re

import pytest

import umbel
from umbel import _umbel

NAMES = [name for name in umbel.__all__ if name not in ("open", "from_bytes")]
ROOT = pathlib.Path(umbel.__file__).parent


def run(text, name):
    test = doctest.DocTestParser().get_doctest(text or "", {"umbel": umbel}, name, None, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0
    return result.attempted


@pytest.mark.parametrize("name", NAMES)
def test_examples(name):
    tried = run(getattr(umbel, name).__doc__, name)
    assert tried or name in ("Sizing", "HeavyKey")


def test_the_package_and_its_page():
    assert run(umbel.__doc__, "umbel")
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    assert blocks and all(run(block, "docs/python.md") for block in blocks)


def test_everything_is_documented():
    for name in umbel.__all__:
        value = getattr(umbel, name)
        assert value.__doc__, name
        for attribute in vars(value) if isinstance(value, type) else ():
            if not attribute.startswith("_"):
                assert getattr(value, attribute).__doc__, f"{name}.{attribute}"


def test_the_stub_declares_what_there_is():
    tree = ast.parse((ROOT / "_umbel.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert functions == {"main", "open", "from_bytes", "size"}
    for name in set(umbel.__all__) - functions:
        declared = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        there = {attribute for attribute in vars(getattr(_umbel, name)) if not attribute.startswith("_")}
        assert {method for method in declared if not method.startswith("_")} == there, name
        for method in declared:
            assert hasattr(getattr(_umbel, name), method), f"{name}.{method}"
