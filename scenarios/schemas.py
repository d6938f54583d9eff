"""A call's arguments against the JSON Schema of its tool, every flaw with its code and JSON pointer.

The validator is jsonschema's (draft 2020-12): the reference one in Python, with errors that carry paths. A schema that
is none, or that points elsewhere, judges nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sandtrail.ledgers.spelling import near
from sandtrail.ledgers.trees import as_list, as_object


@dataclass(frozen=True, slots=True)
class SchemaFlaw:
    """One thing wrong with the arguments: a code, a JSON pointer, and words; `converted` is what a coerced value became."""

    code: str
    pointer: str
    reason: str
    converted: Any = None


_CODES = {"enum": "args.enum", "const": "args.enum"}


def schema_flaws(
    schema: Mapping[str, Any], arguments: Mapping[str, Any], *, closed: bool = False, coerce: bool = False
) -> Iterator[SchemaFlaw]:
    """What is wrong with the arguments. `closed` makes every argument beyond the schema an error; with `coerce` a value
    that can be converted is a warning.

    >>> wants = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> [flaw.code for flaw in schema_flaws(wants, {"n": "500"})], [flaw.code for flaw in schema_flaws(wants, {})]
    (['args.type'], ['args.missing_required'])
    """
    text = json.dumps(schema)
    validator = _validator(text)
    if validator is None:
        return
    plain: Any = json.loads(text)
    errors = _errors(validator, dict(arguments))
    for found in sorted(errors, key=lambda error: list(map(str, error.absolute_path))):
        yield from _flaws(found, coerce=coerce)
    yield from _undeclared(plain, dict(arguments), closed=closed)


def schema_fault(schema: Mapping[str, Any]) -> SchemaFlaw | None:
    """Why this is no JSON Schema, and where in it; None where it is one.

    >>> found = schema_fault({"properties": {"n": {"type": "whole"}}})
    >>> found and found.pointer
    '/properties/n/type'
    """
    from jsonschema import Draft202012Validator  # noqa: PLC0415  heavy, and only where schemas are checked
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        pointer = "".join(_step(step) for step in error.absolute_path)
        return SchemaFlaw("args.constraint", pointer, f"no JSON Schema: {error.message:.200}")
    except RecursionError:
        return SchemaFlaw("args.constraint", "", "no JSON Schema: nested too deep")
    return None


@lru_cache(maxsize=512)
def _validator(text: str) -> Any:
    """The validator of a schema's JSON text; None where it is no schema. Checking one takes longer than using it."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415  heavy, and only where calls are judged
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415  jsonschema's own

    plain: Any = json.loads(text)
    try:
        Draft202012Validator.check_schema(plain)
    except (SchemaError, RecursionError):
        return None
    empty: Any = Registry[Any]()
    return Draft202012Validator(plain, registry=empty)


def _errors(validator: Any, value: Any) -> list[Any]:
    """What the validator says, up to where it cannot go on: a pointer that leads out of the schema (it is never
    followed), a pattern of another language's regular expressions, a circle."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415  jsonschema's own

    found: list[Any] = []
    try:
        for error in validator.iter_errors(value):
            found.append(error)  # noqa: PERF402  what was found before it stops counts
    except (RecursionError, re.error, Unresolvable):
        pass
    return found


def _flaws(error: Any, *, coerce: bool) -> Iterator[SchemaFlaw]:
    pointer = "".join(_step(step) for step in error.absolute_path)
    if error.validator == "required":
        for name in error.validator_value:
            if error.message == f"{name!r} is a required property":
                yield SchemaFlaw("args.missing_required", f"{pointer}{_step(name)}", "required, and absent")
    elif error.validator == "additionalProperties":
        for name in _beyond(error.schema, error.instance):
            hint = near(name, as_object(error.schema.get("properties")) or {})
            yield SchemaFlaw(
                "args.unknown_field", f"{pointer}{_step(name)}", f"there is no such argument{hint}"
            )
    elif error.validator == "type":
        yield from _typed(
            error.instance, [(_listed(error.validator_value), error.schema)], pointer, coerce=coerce
        )
    elif error.validator in {"anyOf", "oneOf"} and error.context:
        yield from _branches(error, pointer, coerce=coerce)
    else:
        code = _CODES.get(str(error.validator), "args.constraint")
        yield SchemaFlaw(code, pointer, str(error.message)[:300])


def _step(step: object) -> str:
    """One step of a JSON pointer (RFC 6901)."""
    return f"/{str(step).replace('~', '~0').replace('/', '~1')}"


def _branches(error: Any, pointer: str, *, coerce: bool) -> Iterator[SchemaFlaw]:
    """A union that no branch of fits: of another type than all of them, else what is wrong in the branches of its type."""
    branches: dict[Any, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    misfits = {
        number: inner
        for number, found in branches.items()
        for inner in found
        if inner.validator == "type" and not inner.relative_path
    }
    if len(misfits) == len(branches):
        wanted = [(_listed(inner.validator_value), inner.schema) for inner in misfits.values()]
        yield from _typed(error.instance, wanted, pointer, coerce=coerce)
    elif len(branches) - len(misfits) == 1:
        (number,) = branches.keys() - misfits.keys()
        for inner in branches[number]:
            yield from _flaws(inner, coerce=coerce)
    else:
        yield SchemaFlaw("args.constraint", pointer, str(error.message)[:300])


def _typed(
    value: Any, wanted: list[tuple[list[str], Any]], pointer: str, *, coerce: bool
) -> Iterator[SchemaFlaw]:
    """A value of none of these types, each with the schema it stands in; converted, it must fit that schema."""
    types = list(dict.fromkeys(one for listed, _ in wanted for one in listed))
    words = f"{_noun(value)} was given, {' or '.join(types)} is wanted"
    if isinstance(value, str) and {"object", "array"} & set(types):
        try:
            inner = json.loads(value)
        except (ValueError, RecursionError):
            inner = None
        if as_object(inner) is not None or as_list(inner) is not None:
            yield SchemaFlaw("args.stringified", pointer, f"{words}; the text holds it as JSON")
            return
    for listed, schema in wanted if coerce else ():
        converted = _converted(value, listed)
        if converted is not None:
            yield SchemaFlaw("args.coerced", pointer, f"{words}; it was converted", converted)
            validator = _validator(json.dumps(schema))
            for error in _errors(validator, converted) if validator else ():
                yield from _flaws_at(error, pointer)
            return
    yield SchemaFlaw("args.type", pointer, words)


def _flaws_at(error: Any, pointer: str) -> Iterator[SchemaFlaw]:
    for flaw in _flaws(error, coerce=False):
        yield SchemaFlaw(flaw.code, f"{pointer}{flaw.pointer}", flaw.reason)


def _converted(value: Any, wanted: list[str]) -> Any:
    """The value in one of the wanted types, where nothing is lost by it; None where it cannot be."""
    if isinstance(value, str):
        text = value.strip()
        if "integer" in wanted and re.fullmatch(r"-?[0-9]{1,18}", text):
            return int(text)
        if "number" in wanted and re.fullmatch(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?", text):
            return float(text)
        return {"true": True, "false": False}.get(text.lower()) if "boolean" in wanted else None
    if "string" in wanted and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def _listed(wanted: Any) -> list[str]:
    return [str(one) for one in (as_list(wanted) or [wanted])]


def _noun(value: Any) -> str:
    nouns: dict[Any, str] = {
        bool: "a boolean",
        str: "text",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return nouns.get(type(value), "null")


# -- beyond the schema -----------------------------------------------------------------------------------


def _beyond(schema: Any, value: Mapping[str, Any]) -> list[str]:
    """The fields of an object that a schema neither names nor has a pattern for."""
    known = as_object(schema.get("properties")) or {}
    patterns = as_object(schema.get("patternProperties")) or {}
    return sorted(
        name
        for name in value
        if name not in known and not any(re.search(pattern, name) for pattern in patterns)
    )


def _undeclared(root: dict[str, Any], value: Any, *, closed: bool) -> Iterator[SchemaFlaw]:
    """Fields that an open schema does not name, inside objects and lists too. What takes any name by intent does not."""
    code = "args.unknown_field" if closed else "args.undeclared"
    todo: list[tuple[Any, Any, str]] = [(root, value, "")]
    while todo:
        given, inner, pointer = todo.pop()
        schema = _resolved(root, given)
        fields, known = as_object(inner), as_object(schema.get("properties"))
        for place, item in enumerate(as_list(inner) or ()):
            todo.append((schema.get("items"), item, f"{pointer}/{place}"))
        if fields is None or known is None:
            continue
        todo += [
            (known[name], item, f"{pointer}{_step(name)}") for name, item in fields.items() if name in known
        ]
        open_ = schema.get("additionalProperties")
        if open_ is None or (open_ is True and closed):
            for name in _beyond(schema, fields):
                reason = f"the schema names no such argument{near(name, known)}"
                yield SchemaFlaw(code, f"{pointer}{_step(name)}", reason)


def _resolved(root: dict[str, Any], schema: Any) -> dict[str, Any]:
    """A schema, or what its pointer into the same document (`#/$defs/Address`) leads to; empty where nowhere."""
    for _ in range(8):  # a pointer to a pointer, but in no circle
        found = as_object(schema) or {}
        pointer = found.get("$ref")
        if not isinstance(pointer, str):
            return found
        if not pointer.startswith("#/"):
            return {}
        schema = root
        for step in pointer[2:].split("/"):
            schema = (as_object(schema) or {}).get(step.replace("~1", "/").replace("~0", "~"))
    return {}
