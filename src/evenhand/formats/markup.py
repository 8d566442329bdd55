"""Taking the dress off a text: Markdown, LaTeX, HTML, code fences. What it says stays; what it struck out goes."""

from __future__ import annotations

import re

from evenhand.formats.numerals import normalise

_FENCE = re.compile(r"(?:```|~~~)[\w+-]{0,20}")
_STRUCK = re.compile(r"~~[^~\n]{1,300}~~|<(?:del|s|strike)>[^<>]{0,300}</(?:del|s|strike)>", re.IGNORECASE)
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~")
_HEADING = re.compile(r"^[^\S\n]{0,3}#{1,6}[^\S\n]+", re.MULTILINE)
_BULLETS = re.compile(r"^[^\S\n]*[-*•+][^\S\n]+", re.MULTILINE)
_NAMED = re.compile(r"<([a-z][\w-]{0,40})>([^<>]{1,200})</\1>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:b|strong|i|em|u|p|br|span|div|code|pre|mark|font|ul|ol|li|h[1-6]|center|small|big|tt|answer|response"
    r"|result|output|final|final_answer|no_think|nothink|think_off)\b[^<>]{0,80}>|<[|｜/][^<>\n]{0,40}[|｜]>|</s>",
    re.IGNORECASE,
)
_DRESS = frozenset({"b", "strong", "i", "em", "u", "p", "span", "div", "code", "pre", "mark", "font", "li", "ul", "ol",
                    "h1", "h2", "h3", "h4", "h5", "h6", "center", "small", "big", "tt"})  # fmt: skip
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_MACRO = re.compile(r"\\(?:text|textbf|mathbf|mathrm|textit|textrm|operatorname|underline|bf|rm)\s*\{([^{}]{0,100})\}")
_LATEX = re.compile(r"\\[\[\]()]|\$\$|\\(?:,|;|!|quad\b|left\b|right\b|displaystyle\b)|\\(?=[$%#_&*.\-])")
_MATHS = re.compile(r"\$(?=\\|[^$\n]{1,40}\$(?!\s?\d))([^$\n]{1,60})\$")


def undress(text: str, *, money: bool = False) -> str:
    """The text as a reader sees it, with plain digits and separators.

    Args:
        text: The visible text.
        money: Whether `$` means dollars; otherwise it is taken for the sign of mathematics.
    """
    text = normalise(text)
    if "$" in text and not money:
        text = _MATHS.sub(r"\1", text)
    if "{,}" in text:
        text = text.replace("{,}", ",")
    if "\\" in text:
        text = _without_latex(text)
    if "<" in text:
        text = _without_tags(text)
    if "~" in text:
        text = _STRUCK.sub(" ", text)
    if "`" in text or "~" in text:
        text = _FENCE.sub("\n", text)
    if "#" in text:
        text = _HEADING.sub("", text)
    if "\n" in text:
        text = _without_bullets(text)
    if "*" in text or "`" in text or "_" in text or "~" in text:
        text = _EMPHASIS.sub("", text)
    return text.strip()


def _without_bullets(text: str) -> str:
    """Bullets are bullets only where they make a list: one alone may be a sign."""
    return _BULLETS.sub("", text) if len(_BULLETS.findall(text)) > 1 else text


def _without_latex(text: str) -> str:
    for _ in range(3):
        plainer = _MACRO.sub(r"\1", text)
        if plainer == text:
            break
        text = plainer
    text = _BOXED.sub("\nanswer: {", text)
    return _LATEX.sub("", text)


def _without_tags(text: str) -> str:
    text = _STRUCK.sub(" ", text)

    def labelled(match: re.Match[str]) -> str:
        name, content = match.groups()
        return content if name.lower() in _DRESS else f"\n{name}: {content.strip()}\n"

    if "</" in text:
        text = _NAMED.sub(labelled, text)
    return _TAG.sub("", text)
