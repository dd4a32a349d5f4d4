"""Exact arithmetic for claims: numbers, names, + - * / ( ), min, max and abs. Nothing else is ever executed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from advisor.errors import InputError
from advisor.units import shown

MAX_LENGTH = 500
MAX_DEPTH = 30
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]{1,30}(?:\.[0-9]{1,30})?)|(?P<name>[a-z][a-z0-9_]{0,60})|(?P<sign>[-+*/(),]))"
)
_FUNCTIONS: dict[str, Callable[..., Fraction]] = {"min": min, "max": max, "abs": abs}


class ExpressionError(InputError):
    """An expression that cannot be read or computed; the text says what and where."""


def evaluate(expression: str, values: Mapping[str, Fraction]) -> Fraction:
    """The exact value of an expression over named values. Raises ExpressionError."""
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(f"expression is longer than {MAX_LENGTH} characters")
    parser = _Parser(_tokens(expression), values)
    value = parser.sum(0)
    if parser.rest():
        raise ExpressionError(f"expression goes on after its end at {shown(parser.rest()[0])}")
    return value


def names_in(expression: str) -> set[str]:
    """The value names that an expression reads. Raises ExpressionError."""
    return {token for token in _tokens(expression) if token[0].isalpha() and token not in _FUNCTIONS}


def _tokens(expression: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    text = expression.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(
                f"{shown(text[position:].strip()[:20])} is not arithmetic; use + - * / ( ), min, max, abs"
            )
        tokens.append(match[match.lastgroup or 0])
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent over the tokens; depth is bounded, so no input exhausts the stack."""

    def __init__(self, tokens: list[str], values: Mapping[str, Fraction]) -> None:
        self.tokens, self.values, self.position = tokens, values, 0

    def rest(self) -> list[str]:
        """Tokens not read yet."""
        return self.tokens[self.position :]

    def take(self, *allowed: str) -> str:
        """The next token if it is one of `allowed`, else nothing."""
        if self.position < len(self.tokens) and self.tokens[self.position] in allowed:
            self.position += 1
            return self.tokens[self.position - 1]
        return ""

    def need(self, token: str) -> None:
        """Read `token`. Raises ExpressionError when something else stands there."""
        if not self.take(token):
            raise ExpressionError(
                f"expression lacks '{token}' at {shown(' '.join(self.rest()[:3]) or 'its end')}"
            )

    def sum(self, depth: int) -> Fraction:
        """Products joined by + and -."""
        if depth > MAX_DEPTH:
            raise ExpressionError(f"expression nests deeper than {MAX_DEPTH} levels")
        value = self.product(depth)
        while sign := self.take("+", "-"):
            right = self.product(depth)
            value = value + right if sign == "+" else value - right
        return value

    def product(self, depth: int) -> Fraction:
        """Factors joined by * and /."""
        value = self.factor(depth)
        while sign := self.take("*", "/"):
            right = self.factor(depth)
            if sign == "/" and right == 0:
                raise ExpressionError("expression divides by zero")
            value = value * right if sign == "*" else value / right
        return value

    def factor(self, depth: int) -> Fraction:
        """A number, a name, a call, a group, with signs in front."""
        negative = False
        while sign := self.take("-", "+"):
            negative ^= sign == "-"
        value = self.atom(depth)
        return -value if negative else value

    def atom(self, depth: int) -> Fraction:
        """A factor without its sign."""
        if self.take("("):
            value = self.sum(depth + 1)
            self.need(")")
            return value
        if not self.rest():
            raise ExpressionError("expression ends where a number or a name is needed")
        token = self.rest()[0]
        self.position += 1
        if token[0].isdigit():
            return Fraction(token)
        if token in _FUNCTIONS:
            return self.call(token, depth)
        if token in self.values:
            return self.values[token]
        raise ExpressionError(
            f"{shown(token)} is not one of the inputs: {', '.join(sorted(self.values)) or 'there are none'}"
        )

    def call(self, name: str, depth: int) -> Fraction:
        """The arguments of a function, and its value."""
        self.need("(")
        arguments = [self.sum(depth + 1)]
        while self.take(","):
            arguments.append(self.sum(depth + 1))
        self.need(")")
        if name == "abs":
            if len(arguments) != 1:
                raise ExpressionError("abs takes one value")
            return abs(arguments[0])
        return _FUNCTIONS[name](arguments)
