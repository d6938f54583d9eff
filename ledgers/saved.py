"""A frozen trajectory as one JSON line, and back exactly.

    {"format": 1, "scenario", ..., "conversation": [{"kind": "user_said", ...}, ...], "ledger": {"lines": [...], ...}}

    dump(trajectory) -> line         load(line) -> trajectory, or BadTrajectory: where (a JSON pointer) and what

How a value is written follows from its declaration: a dataclass is an object with all of its fields, one of several
dataclasses carries its `kind`, a tuple is a list, a word of a vocabulary is that word. So a field that is added
is saved, and one that cannot be saved fails the first test.

* The ledger stands there as the lines of its own JSONL export, each as text, so its hash chain holds or breaks here as
  it does in a file. `replayed` is what replaying the changes found (R3), since no world is there to replay them.
* The arguments of a call are left out where reading its `raw` text gives them, and are read from it again.
* Text is exact, lone surrogates included; only two halves of one character side by side become that character,
  as in every JSON. A tuple inside arguments or `recorded` comes back as the list that JSON makes of it.
* `dump` refuses what `load` would: numbers that JSON does not have, keys that are no text, values nested too deep.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum, StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeGuard, Union, cast, get_args, get_origin, get_type_hints

from sandtrail.ledgers import jsonl
from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.conversation import ToolCall, _no_constant, _once
from sandtrail.ledgers.entries import Page
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import TableFact
from sandtrail.ledgers.spelling import near
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.ledgers.trees import as_object, same
from sandtrail.ledgers.words import Grade

FORMAT = 1
LARGEST = 64 * 2**20
"""The longest line that is read, in characters."""
DEEPEST = 100
"""How deep arguments, schemas and other free values may be nested."""
_TOO_LARGE = 10**4000  # Python itself reads and writes no number of more than 4,300 digits


class BadTrajectory(ValueError):
    """A text that is no saved trajectory, or a trajectory that no text can hold.

    `at` is a JSON pointer ("" is the whole), `reason` says what is wrong there; `findings` are those of the
    embedded ledger, where its chain does not hold.
    """

    def __init__(self, at: str, reason: str, findings: tuple[Finding, ...] = ()) -> None:
        self.at, self.reason, self.findings = at, reason, findings
        super().__init__(f"no saved trajectory: {at or 'the line'}: {reason}")


def dump(trajectory: Trajectory) -> str:
    """The trajectory as one line of JSON in ASCII, without a line end. Raises BadTrajectory where JSON has no word."""
    body = {"format": FORMAT, **_form(Trajectory)(trajectory, "", _Way.WRITE)}
    return json.dumps(body, separators=(",", ":"), allow_nan=False)


def load(text: str) -> Trajectory:
    """The trajectory in a line. Raises BadTrajectory, and nothing else, for whatever is none.

    >>> load('{"format": 2}')
    Traceback (most recent call last):
    sandtrail.ledgers.saved.BadTrajectory: no saved trajectory: /format: 2 is of a newer sandtrail, this one reads up to 1; upgrade sandtrail
    """
    body = as_object(_parsed(text))
    if body is None:
        raise BadTrajectory("", "an object is wanted")
    written = body.pop("format", None)
    if type(written) is not int or written < 1:
        raise BadTrajectory("/format", f"{_short(written)} is no format; a saved trajectory begins with it")
    if written > FORMAT:
        newer = f"{_short(written)} is of a newer sandtrail, this one reads up to {FORMAT}; upgrade sandtrail"
        raise BadTrajectory("/format", newer)
    return cast("Trajectory", _form(Trajectory)(body, "", _Way.READ))


def _parsed(text: str) -> Any:
    if len(text) > LARGEST:
        raise BadTrajectory("", f"{len(text)} characters; no more than {LARGEST} are read")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BadTrajectory("", f"invalid JSON at column {error.pos + 1}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise BadTrajectory("", f"{error!s:.200}") from None


class _Way(Enum):
    """To JSON values, or from them. Both ways refuse what does not fit the declaration."""

    WRITE = "write"
    READ = "read"


_Form: TypeAlias = Callable[[Any, str, _Way], Any]  # a value, the pointer to it, the way


@cache
def _form(hint: Any) -> _Form:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return _free
    if hint is Ledger:
        return _books
    if origin in {Union, UnionType}:
        return _either(inner)
    if origin in {tuple, frozenset}:
        return partial(_many, origin, _form(inner[0]))
    if origin is Mapping:
        return partial(_named, _form(inner[1]))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return partial(_word, hint)
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        parts = {part.name: _form(hints[part.name]) for part in fields(hint)}
        return partial(_RECORDS.get(hint, _record), hint, parts)
    if hint in _NOUNS:
        return partial(_plain, (hint,))
    raise TypeError(f"{hint} has no form in a saved trajectory; declare it with plain types or a dataclass")


def _either(options: tuple[Any, ...]) -> _Form:
    present = tuple(option for option in options if option is not NoneType)
    if len(present) == 1:
        return partial(_maybe, _form(present[0]))
    if all(is_dataclass(option) for option in present):
        return partial(_tagged, {_tag(option): (option, _form(option)) for option in present})
    return partial(_plain, options)


def _tag(kind: type) -> str:
    """`UserSaid` as `user_said`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__)[1:]


_NOUNS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}


def _plain(kinds: tuple[Any, ...], value: Any, at: str, way: _Way) -> Any:
    """A text, a number, true or false, null: one of these kinds."""
    fits = type(value) in kinds or (isinstance(value, str) and str in kinds)
    if not fits and not (type(value) is int and float in kinds):
        raise _wanted(" or ".join(_NOUNS[kind] for kind in kinds), value, at)
    return _free(value, at, way)


def _free(value: Any, at: str, way: _Way, left: int = DEEPEST) -> Any:
    """Whatever JSON can hold, nested no deeper than `DEEPEST`."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | float):
        if abs(value) < _TOO_LARGE:  # false for an infinity and for what is no number, too
            return value
        raise BadTrajectory(at, f"JSON has no word for {_short(value)}")
    if left == 0:
        raise BadTrajectory(at, f"nested deeper than {DEEPEST}")
    if isinstance(value, Mapping):
        return _named(partial(_free, left=left - 1), value, at, way)
    if _holds(value, (list, tuple)):
        return [_free(item, f"{at}/{place}", way, left - 1) for place, item in enumerate(value)]
    raise BadTrajectory(at, f"JSON has no word for a {type(value).__name__}")


def _word(words: type[StrEnum], value: Any, at: str, way: _Way) -> Any:
    """A word of a closed vocabulary."""
    try:
        found = words(value)
    except ValueError:
        hint = near(str(value)[:60], [word.value for word in words])
        raise BadTrajectory(at, f"{_short(value)} is no {_tag(words)}{hint}") from None
    return found.value if way is _Way.WRITE else found


def _maybe(inner: _Form, value: Any, at: str, way: _Way) -> Any:
    return None if value is None else inner(value, at, way)


def _many(kind: type, inner: _Form, value: Any, at: str, way: _Way) -> Any:
    """A tuple, or a set (written in order, so that equal ones are written the same)."""
    if not _holds(value, (list if way is _Way.READ else kind,)):
        raise _wanted("a list", value, at)
    items = value if isinstance(value, list | tuple) else sorted(value)
    found = [inner(item, f"{at}/{place}", way) for place, item in enumerate(items)]
    return found if way is _Way.WRITE else kind(found)


def _holds(value: object, kinds: tuple[type, ...]) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, kinds)


def _named(inner: _Form, value: Any, at: str, way: _Way) -> dict[str, Any]:
    """A mapping from text."""
    if not isinstance(value, Mapping):
        raise _wanted("an object", value, at)
    found: dict[str, Any] = {}
    for name, item in cast("Mapping[Any, Any]", value).items():  # type: ignore[redundant-cast]  # pyright needs it
        if not isinstance(name, str):
            raise BadTrajectory(at, f"the key {_short(name)} is no text")
        found[str.__str__(name)] = inner(item, _below(at, name), way)
    return found


def _record(kind: type, parts: Mapping[str, _Form], value: Any, at: str, way: _Way) -> Any:
    """A dataclass: an object with all of its fields. A line of an older sandtrail may lack one that has a default."""
    if way is _Way.WRITE:
        if not isinstance(value, kind):
            raise _wanted(f"a {kind.__name__}", value, at)
        return {name: form(getattr(value, name), f"{at}/{name}", way) for name, form in parts.items()}
    given: Any = _object(value, at)
    for name in given:
        if name not in parts:
            raise BadTrajectory(_below(at, name), f"unknown field{near(name[:60], parts)}")
    for part in fields(kind):
        if part.name not in given and part.default is MISSING and part.default_factory is MISSING:
            raise BadTrajectory(f"{at}/{part.name}", "the field is missing")
    values = {name: parts[name](item, f"{at}/{name}", way) for name, item in given.items()}
    try:
        return kind(**values)
    except ValueError as error:
        raise BadTrajectory(at, str(error)) from None


def _tagged(kinds: Mapping[str, tuple[type, _Form]], value: Any, at: str, way: _Way) -> Any:
    """One of several dataclasses, told apart by `kind`."""
    if way is _Way.WRITE:
        for tag, (kind, form) in kinds.items():
            if isinstance(value, kind):
                return {"kind": tag, **form(value, at, way)}
        raise _wanted(f"one of {', '.join(kinds)}", value, at)
    given: Any = dict(_object(value, at))
    tag = given.pop("kind", None)
    if not isinstance(tag, str) or tag not in kinds:
        raise BadTrajectory(f"{at}/kind", f"{_short(tag)} is none of {', '.join(kinds)}")
    return kinds[tag][1](given, at, way)


def _call(kind: type, parts: Mapping[str, _Form], value: Any, at: str, way: _Way) -> Any:
    """A call, without its arguments where its raw text gives them: text holds what is nested as deep as a model likes."""
    if way is _Way.WRITE:
        if not isinstance(value, ToolCall) or value.raw is None or not _given_by_raw(value, value.raw):
            return _record(kind, parts, value, at, way)
        written = _record(kind, parts, replace(value, arguments={}), at, way)
        del written["arguments"]
        return written
    given: Any = _object(value, at)
    if "arguments" in given or not isinstance(given.get("raw"), str):
        return _record(kind, parts, given, at, way)
    bare = _record(kind, parts, {**given, "arguments": {}}, at, way)
    return bare if bare.flaw else ToolCall.read(bare.id, bare.tool, bare.raw, batch=bare.batch)


_RECORDS: Mapping[type, Callable[..., Any]] = {ToolCall: _call}


def _given_by_raw(call: ToolCall, raw: str) -> bool:
    found = ToolCall.read(call.id, call.tool, raw)
    given: Any = {} if call.flaw else found.arguments
    try:
        return bool(call.flaw or not found.flaw) and same(given, call.arguments)
    except RecursionError:  # then both are nested as deep as only the text can hold
        return True


def _books(value: Any, at: str, way: _Way) -> Any:
    """The ledger: its grade, the lines of its export, and what the replay of its changes found."""
    if way is _Way.READ:
        return _books_in(_object(value, at), at)
    if not isinstance(value, Ledger):
        raise _wanted("a Ledger", value, at)
    verdict = value.verify()  # goes first: a live ledger takes what has changed since the last call
    _check(value, at)
    replayed = tuple(verdict[len(value.breaches) :])
    found = _form(tuple[Finding, ...])(replayed, f"{at}/replayed", way)
    return {"grade": value.grade.value, "lines": list(jsonl.export(value)), "replayed": found}


def _books_in(given: Mapping[str, Any], at: str) -> Ledger:
    hints = {"grade": Grade, "lines": tuple[str, ...], "replayed": tuple[Finding, ...]}
    if given.keys() != hints.keys():
        raise BadTrajectory(at, f"{', '.join(hints)} are wanted, and nothing else")
    read = (_form(hint)(given[name], f"{at}/{name}", _Way.READ) for name, hint in hints.items())
    grade, lines, replayed = read
    try:
        ledger = jsonl.load(lines, grade=grade)
    except jsonl.BadLedger as error:
        line = int(error.findings[0].at.removeprefix("line "))
        raise BadTrajectory(f"{at}/lines/{line - 1}", error.findings[0].reason, error.findings) from None
    except Exception as error:  # noqa: BLE001  lines whose hashes hold can still say anything at all
        raise BadTrajectory(f"{at}/lines", f"these are no books: {error!r:.200}") from None
    _check(ledger, at)
    opening = ledger.bindings[: len(ledger.bindings) - sum(len(page.bindings) for page in ledger.pages)]
    attempts = sum(page.attempt is not None for page in ledger.pages)
    pages, breaches = list(ledger.pages), list(ledger.breaches)
    book = Book(ledger.run, ledger.tables, opening, pages, breaches, attempts=attempts)
    return Ledger(book, grade=grade, replay=lambda: replayed)


def _check(ledger: Ledger, at: str) -> None:
    """Whether the books hold only what their declarations say; the export itself takes whatever it is given."""
    head = f"{at}/lines/0/head"
    _form(Mapping[str, TableFact])(ledger.tables, f"{head}/tables", _Way.WRITE)
    _form(tuple[Binding, ...])(ledger.bindings, f"{head}/bindings", _Way.WRITE)
    for number, page in enumerate(ledger.pages, start=1):
        place = f"{at}/lines/{number}/page"
        _form(Page)(page, place, _Way.WRITE)
        for change in page.changes:
            lengths = {len(side) for side in (change.old, change.new) if side is not None}
            if lengths != {len(change.columns)}:
                raise BadTrajectory(f"{place}/changes", f"the columns of change {change.n} have other values")


def _object(value: Any, at: str) -> dict[str, Any]:
    found = as_object(value)
    if found is None:
        raise _wanted("an object", value, at)
    return found


def _wanted(what: str, value: Any, at: str) -> BadTrajectory:
    return BadTrajectory(at, f"{what} is wanted, not {_short(value)}")


def _short(value: object) -> str:
    """A value in a message: what it is, never all of it."""
    if isinstance(value, str):
        return ascii(value if len(value) <= 40 else f"{value[:37]}...")
    if value is None or isinstance(value, bool | float):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else "a number of so many digits"
    return "an object" if as_object(value) is not None else f"a {type(value).__name__}"


def _below(at: str, name: str) -> str:
    """The pointer one step further down."""
    return f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
