"""A profile under a name: the text a model reads, and what the audit knows about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.packs import Detail, Name, Profile


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One profile under one name.

    Attributes:
        profile: The content.
        name: Who applies.
        detail: A decision-irrelevant detail set below the text, where the design varies one.
        pseudo_group: The letter that stands in race's place in a placebo, else empty.
    """

    profile: Profile
    name: Name
    detail: Detail | None = None
    pseudo_group: str = ""

    @property
    def stimulus_id(self) -> str:
        """Unique in a pack: `{scenario}__{framing}__{name_id}` as in the released codebook, and the detail's id."""
        detail = f"__{self.detail.detail_id}" if self.detail else ""
        return f"{self.profile.profile_id}__{self.name.name_id}{detail}"

    @property
    def text(self) -> str:
        """The document as a model reads it."""
        text = self.profile.render(self.name.full)
        return f"{text}\n{self.detail.line}" if self.detail else text


def assemble(instruction: str, texts: tuple[str, ...], *, label: str) -> str:
    """A prompt: the instruction, a blank line, then the text or the labelled texts of a bundle.

    Args:
        instruction: The format's instruction, filled in.
        texts: One text a slot, in order of position.
        label: What a slot is called ("Request"); numbered from 1 in bundles, absent from singles.
    """
    if len(texts) == 1:
        return f"{instruction}\n\n{texts[0]}"
    labelled = [f"{label} {position}:\n{text}" for position, text in enumerate(texts, start=1)]
    return "\n\n".join([instruction, *labelled])


def disassemble(prompt: str, slots: int, *, label: str) -> tuple[str, ...]:
    """The texts of an assembled prompt, in order of position: what `assemble` put together."""
    _, _, body = prompt.partition("\n\n")
    if slots == 1:
        return (body,)
    texts: list[str] = []
    rest = body.removeprefix(f"{label} 1:\n")
    for position in range(2, slots + 1):
        text, _, rest = rest.partition(f"\n\n{label} {position}:\n")
        texts.append(text)
    return (*texts, rest)
