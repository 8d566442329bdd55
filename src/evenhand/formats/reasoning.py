"""Taking reasoning out of a reply's text: it is never read for an answer.

Providers strip at most the first paired `<think>`. What is left arrives in many wrappers: paired tags of many
names, a closing tag alone (the chat template wrote the opening one), an opening tag alone (the budget ran out),
tokens of one model family, the channels of the harmony format.
"""

from __future__ import annotations

import re

# 1. Tags and tokens. Whatever opens a trace opens it until the next closing one of any kind.
_NAMES = (
    r"(?!no_)(?:[a-z]{1,12}[:_])?(?:think(?:ing|_fast|_faster|_budget)?|thoughts?|thought_process|reason(?:ing)?|analysis"
    r"|reflection|scratch_?pad|inner_?(?:monologue|thoughts?)|internal_?(?:monologue|thoughts?|reasoning)"
    r"|chain_?of_?thought|cot|rationale|antthinking|deliberation|plan|planning)"
)
_TAG = re.compile(
    rf"<\s?(?P<shut>\\?/\s?)?{_NAMES}(?:\s[^<>]{{0,200}})?/?>"
    rf"|&lt;(?P<shut1>/)?{_NAMES}&gt;"
    rf"|\[(?P<shut2>/)?(?:think|thinking|reasoning|thought)\]"
    rf"|[◁◀](?P<shut3>/)?think(?:ing)?[▷▶]"
    rf"|<[|｜](?P<shut4>/|end_)?(?:think(?:ing)?|thought|reasoning)[|｜]>"
    rf"|<\|(?:begin|start)_(?:of_)?(?:thought|thinking|think|reasoning)\|>"
    rf"|(?P<shut5><\|end_of_(?:thought|thinking|think|reasoning)\|>)"
    rf"|\\u003c(?P<shut10>/)?think(?:ing)?\\u003e"
    rf"|<\|im_start\|>\s?think(?:ing)?\b|(?P<shut11><\|im_start\|>\s?(?:answer|final)\b)"
    rf"|<unused94>|(?P<shut6><unused95>)"
    rf"|<\|channel>\s{{0,3}}thought\b|(?P<shut7><channel\|>)"
    rf"|<\|inner_prefix\|>|(?P<shut8><\|inner_suffix\|>)"
    rf"|<details\b[^<>]{{0,80}}reasoning[^<>]{{0,80}}>|(?P<shut9></details>)",
    re.IGNORECASE,
)
_SHUTS = tuple(name for name in _TAG.groupindex)
_OPENERS = re.compile(r"[<\[&◁◀]|\\u003c|```")
_FENCED = re.compile(r"```(?:think(?:ing)?|thoughts?|reasoning)\b.*?(?:```|\Z)", re.IGNORECASE | re.DOTALL)

# 2. Harmony: <|start|>assistant<|channel|>NAME ...<|message|>BODY<|end|>
_TURN = re.compile(r"<\|(?:start|end|return)\|>")
_CHANNEL = re.compile(r"analysis|commentary|final", re.IGNORECASE)

# 3. What announces the answer after a trace in plain words or tokens of its own.
_ANNOUNCED = re.compile(
    r"\[begin final response\]|\.\.\.\s?done thinking\.|here is my response:|<\|begin_of_solution\|>"
    r"|<\|(?:start_response|response_start)\|>|\*\*final response\*\*\s*\n",
    re.IGNORECASE,
)
_ANNOUNCING = ("response", "done thinking", "begin_of_solution")
_FOOTER = re.compile(r"\[end final response\]|<\|end_of_solution\|>|<\|end_response\|>", re.IGNORECASE)

# 4. What ends a turn: anything after it was not said to us.
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|eot_id|endoftext|end_of_text|eom_id|end_of_turn|eos|endofprompt)\|>"
    r"|<(?:end_of_turn|eos)>|<｜end▁of▁sentence｜>|\[/?INST\]"
)


def strip(text: str) -> str:
    """The text without reasoning, in time linear in its length.

    An opening tag inside a trace opens nothing; a closing tag outside one says that everything so far was
    reasoning; a trace that is never closed lasts to the end.
    """
    lead = text[:40].lstrip().lower()
    if (
        lead.startswith(("analysis", "assistantanalysis", "assistantfinal"))
        and (bare := _bare_harmony(text)) is not None
    ):
        return bare
    if not _OPENERS.search(text):
        return _after_announcement(text) if "\n" in text else text
    if "<|message|>" in text:
        text = _harmony(text)
    if "```" in text:
        text = _FENCED.sub("", text)
    text = _without_tags(text)
    return _until_end_of_turn(_after_announcement(text))


def _without_tags(text: str) -> str:
    kept: list[str] = []
    position, inside, details = 0, False, False
    for match in _TAG.finditer(text):
        token = match.group().lower()
        shuts = match.lastgroup in _SHUTS
        if token == "</details>" and not details:
            continue
        if shuts:
            if not inside:
                kept.clear()
            inside, details, position = False, False, match.end()
        elif not inside:
            kept.append(text[position : match.start()])
            inside, details = True, token.startswith("<details")
    if not inside:
        kept.append(text[position:])
    return "\n".join(kept) if len(kept) > 1 else "".join(kept)


def _harmony(text: str) -> str:
    kept: list[str] = []
    for turn in _TURN.split(text):
        header, found, body = turn.partition("<|message|>")
        if not found:
            kept.append("" if turn.strip().lower() in {"assistant", "user", "system"} else turn)
            continue
        channels = _CHANNEL.findall(header)
        if not channels or channels[-1].lower() == "final":
            kept.append(body)
        elif "to=" in header:  # a function call: its own grammar reads it
            kept.append(turn)
    return "\n".join(kept)


def _bare_harmony(text: str) -> str | None:
    """Harmony whose special tokens were lost: `analysis...assistantfinal4`."""
    for mark in ("assistantfinal", "assistantcommentary"):
        place = text.rfind(mark)
        if place >= 0:
            return text[place + len("assistant") :] if mark.endswith("commentary") else text[place + len(mark) :]
    glued = text.lstrip().removeprefix("assistant")[len("analysis") :][:1]
    return "" if glued.isalpha() else None


def _after_announcement(text: str) -> str:
    lower = text.lower()
    if not any(cue in lower for cue in _ANNOUNCING):
        return text
    ends = [match.end() for match in _ANNOUNCED.finditer(text)]
    return _FOOTER.sub("", text[ends[-1] :]) if ends else text


def _until_end_of_turn(text: str) -> str:
    text = text.strip().removeprefix("<bos>").removeprefix("<|begin_of_text|>")
    if text.count("<s>") == text.startswith("<s>") and text.count("</s>") == text.endswith("</s>"):
        text = text.removeprefix("<s>").removesuffix("</s>")  # marks of a sequence; within a text they strike out
    match = _END_OF_TURN.search(text)
    while match and not text[: match.start()].strip():
        text = text[match.end() :]
        match = _END_OF_TURN.search(text)
    return text[: match.start()] if match else text
