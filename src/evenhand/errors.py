"""One exception tree. Catch `EvenhandError` to catch everything Evenhand raises on purpose.

```
EvenhandError                     anything below; carries the exit code of the command line
├── InputError                    a file or argument cannot be used (exit 2)
│   ├── PackError                 a domain pack is incomplete or breaks its own rules
│   ├── StudyError                a study file is wrong, or names what does not exist
│   ├── DesignError               a design cannot be built from this pack at this size
│   ├── InstrumentError           an instrument's files are damaged, changed or missing
│   ├── OutcomesError             a table of outcomes does not follow the schema
│   └── RunError                  a run directory cannot be used as asked
└── CollectionError               collecting replies stopped before the end (exit 3)
```

Every message is built from three parts: what is wrong, where, and the mend.
"""

from __future__ import annotations


class EvenhandError(Exception):
    """The root of the tree.

    Args:
        what: What is wrong, as a sentence without its full stop.
        where: The file, row or setting at fault.
        mend: What to do about it.

    Attributes:
        exit_code: What the command line returns when this error ends a command.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", mend: str = "") -> None:
        self.what = what
        self.where = where
        self.mend = mend
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        mend = f" {self.mend}." if self.mend else ""
        return f"{place}{self.what}.{mend}"


class InputError(EvenhandError):
    """A file or argument that cannot be used."""


class PackError(InputError):
    """A domain pack that is incomplete or breaks its own rules."""


class StudyError(InputError):
    """A study file that is wrong, or names what does not exist."""


class DesignError(InputError):
    """A design that cannot be built from the pack at the size asked for."""


class InstrumentError(InputError):
    """An instrument whose files are damaged, changed or missing."""


class OutcomesError(InputError):
    """A table of outcomes that does not follow the schema."""


class RunError(InputError):
    """A run directory that cannot be used as asked."""


class CollectionError(EvenhandError):
    """Collecting replies stopped before the end; the same command resumes."""

    exit_code = 3
