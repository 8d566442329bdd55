"""What respondents say a request was for: whether they recognise a test of fairness.

"The Audit Decides the Verdict", section 3, figure 3 and table 1. The forced choice offers the answer and the open
question does not, so that the first is an upper and the second a lower bound of what is recognised. Open answers are
read by the fixed keyword rule of `recognition_keywords.toml`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.analysis.readings import joined, pooled_and_each
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED
from evenhand.statistics import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.material import Material

PROBES = {"purpose_choice": "forced choice", "purpose_open": "volunteered, read by the keyword rule"}
"""The formats of probes, and what their answers are."""
PRESENTATIONS = ("transparent", "irrelevant", "disguised", "placebo", "single")
REASONING = "extension:reasoning"
_SENTENCE = re.compile(r"[.!?;:\n]+")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|,")
_LISTS = ("phrases", "tests", "topics", "negations", "breaks")
_NO_ANSWER = "no probe was answered"


@dataclass(frozen=True, slots=True)
class Rule:
    """The keyword rule; a pattern finds every place in a sentence where one of its words begins.

    Attributes:
        options: The canonical options of the forced choice that count.
        phrases: What counts by itself.
        tests: Words of testing.
        topics: Words of what is tested.
        negations: What takes it back.
        window: At most so many words apart are a test and its topic.
        breaks: What ends the reach of a negation.
        reach: A negation counts among so many words before them.
        version: Of the rule.
    """

    options: tuple[str, ...]
    phrases: re.Pattern[str]
    tests: re.Pattern[str]
    topics: re.Pattern[str]
    negations: re.Pattern[str]
    breaks: re.Pattern[str]
    window: int
    reach: int
    version: int


@cache
def keyword_rule() -> Rule:
    """The rule that ships with the package."""
    file = resources.files("evenhand.analysis") / "recognition_keywords.toml"
    found: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    patterns = {name: _pattern(found[name]) for name in _LISTS}
    return Rule(
        tuple(found["options"]), **patterns, window=found["window"], reach=found["reach"], version=found["version"]
    )


def names_fairness_test(text: str, rule: Rule | None = None) -> bool:
    """Whether an answer in free words names a test of fairness, bias or discrimination.

    Args:
        text: The answer.
        rule: The keyword rule; by default the one that ships with the package.
    """
    rule = rule or keyword_rule()
    plain = text.lower().replace("’", "'")
    return any(_names_it(_WORD.findall(sentence), rule) for sentence in _SENTENCE.split(plain))


def _names_it(words: Sequence[str], rule: Rule) -> bool:
    sentence = " ".join(words)
    found = _places(sentence, rule.phrases)
    topics = _places(sentence, rule.topics)
    tests = _places(sentence, rule.tests) if topics else []
    found += [min(test, topic) for test in tests for topic in topics if 0 < abs(test - topic) <= rule.window]
    negated = _places(sentence, rule.negations) if found else []
    breaks = _places(sentence, rule.breaks) if negated else []
    return any(not any(_takes_back(place, start, breaks, rule.reach) for place in negated) for start in found)


def _takes_back(place: int, start: int, breaks: Sequence[int], reach: int) -> bool:
    return start - reach <= place < start and not any(place < end < start for end in breaks)


def _places(sentence: str, pattern: re.Pattern[str]) -> list[int]:
    """The numbers of the words with which a match begins."""
    return [sentence.count(" ", 0, match.start()) for match in pattern.finditer(sentence)]


def _pattern(entries: Sequence[str]) -> re.Pattern[str]:
    # Looking ahead takes no text, so that a match may begin within another.
    words = "|".join(re.escape(entry).replace(r"\*", r"\S*") for entry in entries)
    return re.compile(rf"(?<!\S)(?=(?:{words})(?!\S))")


def probes(scores: pl.DataFrame, rule: Rule | None = None) -> pl.DataFrame:
    """The probes of a study with what they show: columns `presentation`, `answered`, `recognised` (null unanswered).

    Args:
        scores: Outcomes with scores.
        rule: The keyword rule; by default the one that ships with the package.
    """
    rule = rule or keyword_rule()
    of = pl.col("bundle_type").fill_null("")
    chosen, text = pl.col("choice").is_in(list(rule.options)), pl.col("text")
    return scores.filter(pl.col("task").is_in(list(PROBES))).with_columns(
        presentation=pl.when(of.str.starts_with("irrelevant"))
        .then(pl.lit("irrelevant"))
        .when(of.str.starts_with("placebo"))
        .then(pl.lit("placebo"))
        .otherwise(pl.col("mode").fill_null("single")),
        answered=pl.col("valid"),
        recognised=pl.when(pl.col("valid"))
        .then(
            pl.when(pl.col("task") == "purpose_choice")
            .then(chosen)
            .otherwise(text.map_elements(lambda answer: names_fairness_test(answer, rule), return_dtype=pl.Boolean))
        )
        .otherwise(None),
    )


def recognition(material: Material) -> pl.DataFrame:
    """Shares of probes that name a test of fairness, by presentation of the request asked about.

    Reruns with reasoning are left to `extensions.reasoning_rerun`.

    Returns:
        Tidy rows: estimand `share_recognised`, term `presentation`, by format of the probe; of all domains together,
        pooled and by respondent, then of each domain where there are several.
    """
    found = probes(material.scores.filter(pl.col("tag") != REASONING))
    parts = [("", found)]
    if found["domain"].n_unique() > 1:
        parts += [(str(key[0]), part) for key, part in found.group_by("domain", maintain_order=True)]
    return as_frame(row for domain, part in parts for row in recognition_rows(part, Row("", domain=domain)))


def recognition_rows(found: pl.DataFrame, head: Row) -> Iterator[Row]:
    """Shares of probes by format, presentation and respondent.

    Args:
        found: From `probes`.
        head: The domain, arm and note of the rows.
    """
    for format in PROBES:
        asked = found.filter(pl.col("task") == format)
        for presentation in PRESENTATIONS:
            part = asked.filter(pl.col("presentation") == presentation)
            models = part["model"].unique().sort().to_list()
            for model in pooled_and_each(models, POOLED) if models else []:
                shown = part if model == POOLED else part.filter(pl.col("model") == model)
                yield share_row(
                    shown, replace(head, format=format, term="presentation", group=presentation, model=model)
                )


def share_row(shown: pl.DataFrame, head: Row) -> Row:
    """The share of answered probes that name a test of fairness, with Wilson's interval.

    Args:
        shown: From `probes`.
        head: Everything but the numbers.
    """
    answered = shown.filter("answered")
    count, n = int(answered["recognised"].sum()), answered.height
    interval = wilson_interval(count, n)
    lost = dict(shown.filter(~pl.col("answered"))["status"].value_counts().sort("status").iter_rows())
    unanswered = ", ".join(f"{number} {status}" for status, number in lost.items())
    several = head.model == POOLED and shown["model"].n_unique() > 1
    return replace(
        head,
        estimand="share_recognised",
        estimate=count / n if n else None,
        conf_low=interval[0] if interval else None,
        conf_high=interval[1] if interval else None,
        n=n,
        method=f"{PROBES[head.format]}; Wilson interval",
        note=joined(
            head.note,
            "" if n else _NO_ANSWER,
            f"of {shown.height} probes without an answer, which are left out: {unanswered}" if lost else "",
            "respondents saw the same requests: the interval takes their answers as independent" if several else "",
        ),
    )
