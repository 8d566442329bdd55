"""Latin and Graeco-Latin squares over finite fields: pure integers, no packs, no randomness.

A square of order n is a tuple of n rows of n symbols 0..n-1. Orders that are prime powers come from a
finite field (Bose 1938); other orders multiply squares of their prime-power parts (MacNeish 1922).
"""

from __future__ import annotations

from functools import cache

from evenhand.errors import DesignError

Square = tuple[tuple[int, ...], ...]

# Irreducible polynomials, lowest coefficient first, for the fields whose order is a proper prime power.
_IRREDUCIBLE: dict[int, tuple[int, ...]] = {
    4: (1, 1, 1),
    8: (1, 1, 0, 1),
    9: (1, 0, 1),
    16: (1, 1, 0, 0, 1),
    25: (2, 0, 1),
    27: (1, 2, 0, 1),
}


def latin(order: int) -> Square:
    """The cyclic Latin square: each symbol once in each row and column.

    Raises:
        DesignError: An order below 1.
    """
    if order < 1:
        raise DesignError(f"a square of order {order} does not exist", mend="Use an order of 1 or more")
    return tuple(tuple((row + column) % order for column in range(order)) for row in range(order))


def orthogonal(order: int, count: int) -> tuple[Square, ...]:
    """Mutually orthogonal Latin squares: any two, laid over each other, show every pair of symbols once.

    Args:
        order: Size of the squares.
        count: How many squares.

    Returns:
        `count` squares; the k-th of a prime order n is `(row * (k + 1) + column) mod n`.

    Raises:
        DesignError: No such set exists or none is built here (order 2 and 6 have no orthogonal pair).
    """
    most = _most(order)
    if count > most:
        if order in {2, 6}:
            why, mend = "no orthogonal pair of this order exists", "Use 3, 4, 5, 7, 8, 9 or 11 levels"
        else:
            why = f"only {most} orthogonal {'square is' if most == 1 else 'squares are'} built at this order"
            mend = "Use a prime-power number of levels (3, 4, 5, 7, 8, 9, 11)"
        raise DesignError(f"{count} orthogonal squares of order {order}: {why}", mend=mend)
    parts = [_field_squares(part, count) for part in _prime_powers(order)]
    squares = parts[0]
    for part in parts[1:]:
        squares = tuple(_product(left, right) for left, right in zip(squares, part, strict=True))
    return squares


def graeco_latin(order: int) -> tuple[Square, Square]:
    """A pair of orthogonal Latin squares, the Latin and the Greek letters.

    Raises:
        DesignError: No pair exists (2, 6) or none is built here (1, 10, 14, ...).
    """
    latin_letters, greek_letters = orthogonal(order, 2)
    return latin_letters, greek_letters


def _most(order: int) -> int:
    """The size of the largest set built here (MacNeish's bound)."""
    parts = _prime_powers(order)
    if not parts or any(not _is_prime(part) and part not in _IRREDUCIBLE for part in parts):
        return 0 if order < 2 else 1
    return min(parts) - 1


def _prime_powers(order: int) -> list[int]:
    parts: list[int] = []
    prime = 2
    while order > 1:
        part = 1
        while order % prime == 0:
            part *= prime
            order //= prime
        if part > 1:
            parts.append(part)
        prime += 1
    return parts


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def _field_squares(order: int, count: int) -> tuple[Square, ...]:
    add, multiply = _field(order)
    return tuple(
        tuple(tuple(add[multiply[factor][row]][column] for column in range(order)) for row in range(order))
        for factor in range(1, count + 1)
    )


@cache
def _field(order: int) -> tuple[Square, Square]:
    """Addition and multiplication tables of the field of this order."""
    numbers = range(order)
    if _is_prime(order):
        add = tuple(tuple((a + b) % order for b in numbers) for a in numbers)
        multiply = tuple(tuple(a * b % order for b in numbers) for a in numbers)
        return add, multiply
    prime = next(divisor for divisor in range(2, order) if order % divisor == 0)
    modulus = _IRREDUCIBLE[order]
    digits = [_digits(number, prime, len(modulus) - 1) for number in numbers]
    number_of = {polynomial: number for number, polynomial in enumerate(digits)}
    add = tuple(
        tuple(number_of[tuple((x + y) % prime for x, y in zip(digits[a], digits[b], strict=True))] for b in numbers)
        for a in numbers
    )
    multiply = tuple(tuple(number_of[_times(digits[a], digits[b], modulus, prime)] for b in numbers) for a in numbers)
    return add, multiply


def _digits(number: int, base: int, length: int) -> tuple[int, ...]:
    return tuple(number // base**place % base for place in range(length))


def _times(left: tuple[int, ...], right: tuple[int, ...], modulus: tuple[int, ...], prime: int) -> tuple[int, ...]:
    """Product of two polynomials, reduced by the field's modulus (its leading coefficient is 1)."""
    degree = len(modulus) - 1
    product = [0] * (2 * degree - 1)
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            product[i + j] = (product[i + j] + x * y) % prime
    for power in range(len(product) - 1, degree - 1, -1):
        leading = product[power]
        for i, coefficient in enumerate(modulus):
            product[power - degree + i] = (product[power - degree + i] - leading * coefficient) % prime
    return tuple(product[:degree])


def _product(left: Square, right: Square) -> Square:
    """The direct product of two squares, of order len(left) * len(right)."""
    size = len(right)
    return tuple(
        tuple(left[i][j] * size + right[k][m] for j in range(len(left)) for m in range(size))
        for i in range(len(left))
        for k in range(size)
    )
