"""The services over HTTP, without a server: a request value in, a reply value out.

It answers as a real server would: unknown paths 404, wrong methods 405 with Allow, HEAD without a body, a body
that is no JSON 415, arrays in the query as repeated names. What reaches an operation goes the same way as a direct
call, so that answers and books are equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from sandtrail.fakes.answers import Exchange
from sandtrail.fakes.calls import to_json
from sandtrail.fakes.operations import Operation
from sandtrail.fakes.problems import Invalid, Problem, Unknown
from sandtrail.fakes.state import Call
from sandtrail.fakes.world import World
from sandtrail.ledgers.specs import Principal
from sandtrail.ledgers.words import Delivery, Outcome

ROOT = "/v1"
"""Where the shipped services' paths begin; a base URL may end in it or not."""


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request: `path` still percent-encoded, header names in lower case."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP reply; `lost` where a planned fault keeps it from the client."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    lost: bool = False


class Routes:
    """The paths of some operations as a tree; literals win over parameters."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._tree: dict[str, Any] = {}
        for operation in operations:
            node = self._tree
            for segment in operation.path.strip("/").split("/"):
                node = node.setdefault("{}" if segment.startswith("{") else segment, {})
            node.setdefault("", {})[operation.verb] = operation

    def match(self, path: str) -> tuple[dict[str, Operation], list[str]] | None:
        """The operations at a path by method, and the values of its parameters in order; None where there are none."""
        if not path.startswith("/"):
            return None
        return self._walk(self._tree, [unquote(segment) for segment in path[1:].split("/")])

    def _walk(
        self, node: Mapping[str, Any], segments: Sequence[str]
    ) -> tuple[dict[str, Operation], list[str]] | None:
        if not segments:
            return (node[""], []) if "" in node else None
        first, rest = segments[0], segments[1:]
        if first and first in node:
            found = self._walk(node[first], rest)
            if found is not None:
                return found
        if first and "{}" in node:
            found = self._walk(node["{}"], rest)
            if found is not None:
                return found[0], [first, *found[1]]
        return None


def routes_of(world: World, service: str) -> Routes:
    """The routes of one service of a world. Raises LookupError where there is none of that name."""
    if service not in world.services.names:
        raise LookupError(
            f"no service {service!r} in this world; there are {', '.join(world.services.names)}"
        )
    return Routes(
        operation for operation in world.services.operations.values() if operation.service == service
    )


def serve(world: World, routes: Routes, request: Request, principal: Principal, *, path: str) -> Reply:
    """Answer one request; `path` says in the books on which way it came ("httpx", "requests", ...)."""
    found = routes.match(request.path) or routes.match(ROOT + request.path)
    if found is None:
        problem = Unknown("unknown_path", f"There is nothing at {request.path}.")
        return _noted(world, request, problem, path)
    by_method, values = found
    method = "GET" if request.method == "HEAD" and "GET" in by_method else request.method
    allow = ", ".join(sorted({*by_method, "OPTIONS", *({"HEAD"} if "GET" in by_method else ())}))
    if method == "OPTIONS":
        return Reply(204, {"allow": allow, "content-length": "0"}, b"")
    if method not in by_method:
        problem = Unknown(
            "method",
            f"{request.method} is not possible here.",
            allowed=allow,
            status=405,
            headers={"allow": allow},
        )
        return _noted(world, request, problem, path)
    operation = by_method[method]
    in_path = dict(zip(re.findall(r"\{(\w+)\}", operation.path), values, strict=True))
    exchange = world.exchange(_call(operation, request, in_path, principal, path))
    return _reply(exchange, head=request.method == "HEAD")


def _noted(world: World, request: Request, problem: Problem, path: str) -> Reply:
    world.note(
        f"{request.method} {request.path}",
        Outcome.UNKNOWN,
        detail=problem.detail,
        status=problem.status,
        path=path,
    )
    body = to_json(problem.body()).encode()
    headers = {
        "content-type": "application/problem+json",
        "content-length": str(len(body)),
        **problem.headers,
    }
    return Reply(problem.status, headers, b"" if request.method == "HEAD" else body)


def _call(
    operation: Operation, request: Request, in_path: dict[str, str], principal: Principal, path: str
) -> Call:
    """The call that a request makes; what is wrong with the request itself rides along, so that it is on record."""
    refusal: Problem | None = None
    arguments: str | Mapping[str, Any] = ""
    version: int | None = None
    try:
        version = _version(request.headers.get("if-match"))
        arguments = _arguments(operation, request)
    except Problem as problem:
        refusal, arguments = problem, request.body.decode("utf-8", "replace")
    return Call(
        operation.name,
        arguments,
        principal,
        idempotency_key=request.headers.get("idempotency-key"),
        if_version=version,
        path=path,
        in_path=in_path,
        refusal=refusal,
    )


def _arguments(operation: Operation, request: Request) -> str | Mapping[str, Any]:
    """The query's arguments, or the body's text as it was sent, or both merged. Raises Invalid."""
    from_query = _query(operation, request.query)
    if operation.verb in {"GET", "DELETE"} or not request.body:
        return from_query
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Invalid(
            "content_type",
            f"The content type is {kind or 'not given'}.",
            allowed="application/json",
            status=415,
        )
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Invalid("content_encoding", "Compressed bodies are not read.", allowed="identity", status=415)
    try:
        text = request.body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid("json", f"The body is no UTF-8 at byte {error.start}.", status=400) from None
    if not from_query:
        return text
    raise Invalid(
        "query",
        f"Arguments belong into the body here, not into the query: {', '.join(from_query)}.",
        status=422,
    )


def _query(operation: Operation, query: str) -> dict[str, Any]:
    properties = operation.tool.input_schema.get("properties", {})
    found: dict[str, Any] = {}
    for name, text in parse_qsl(query, keep_blank_values=True, errors="surrogateescape"):
        schema = properties.get(name, {})
        if schema.get("type") == "array":
            found.setdefault(name, []).append(_typed(text, schema.get("items", {})))
        elif name in found:
            raise Invalid("query", f"{name} stands twice in the query.", allowed=f"{name} once", status=400)
        else:
            found[name] = _typed(text, schema)
    return found


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """A query's text as the schema's type, where it reads as one; else the text, for validation to speak of."""
    if schema.get("type") == "integer" and re.fullmatch(r"-?[0-9]{1,20}", text):
        return int(text)
    if schema.get("type") == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text


def _version(header: str | None) -> int | None:
    if header is None or header.strip() == "*":
        return None
    match = re.fullmatch(r'(?:W/)?"([0-9]{1,18})"', header.strip())
    if match is None:
        raise Invalid(
            "if_match",
            f"If-Match: {header} is no version.",
            allowed='a version in quotes, as in ETag: "3"',
            status=400,
        )
    return int(match[1])


def _reply(exchange: Exchange, *, head: bool) -> Reply:
    body = exchange.answer.text.encode("utf-8", "surrogatepass")
    headers = {**exchange.answer.headers, "content-length": str(len(body))}
    return Reply(
        exchange.answer.status, headers, b"" if head else body, exchange.attempt.delivery is Delivery.LOST
    )
