"""The audit as an Inspect task: the same units, asked with the same settings, for those who live in Inspect.

    inspect eval evenhand/audit -T instrument=RUN --model PROVIDER/NAME

The log then holds what a ledger would; `evenhand import inspect LOGS -o RUN` makes one of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evenhand.collection.models import Respondent
from evenhand.collection.replies import reply_of
from evenhand.collection.requests import inspect_config, inspect_tools, request_settings, unit_settings
from evenhand.collection.runner import Errand, teach
from evenhand.errors import InputError
from evenhand.instrument import Instrument, load_instrument
from evenhand.plan import Plan, load_plan

if TYPE_CHECKING:
    from evenhand.instrument import Unit

UNSCORED = {
    "refused": "refusal",
    "malformed": "invalid_response_format",
    "no_answer": "no_response",
    "error": "scoring_failed",
}
"""Our statuses in Inspect's words for why a sample has no score."""


def make_task(instrument: str, arm: str = "*", limit: int | None = None) -> Task:
    """The task of a run directory.

    Args:
        instrument: The run directory (or the `instrument` folder in it).
        arm: Only arms that match this pattern.
        limit: Only the first so many units.

    Raises:
        InputError: Not a run directory.
    """
    plan, whole = open_instrument(Path(instrument))
    # Units that ask for reasoning wait for models named for them, which `evenhand run` does.
    units = [unit for unit in whole.select([arm]).units[:limit] if not unit.reasoning]
    work = Errand(units, plan.settings, seed=plan.seed).work()
    samples = [
        Sample(input=unit.prompt, id=unit.key, metadata={"arm": unit.arm, "format": unit.format}) for unit, _ in work
    ]
    return Task(
        dataset=MemoryDataset(samples, name=plan.name),
        solver=put_unit(whole, plan),
        scorer=read_answer(whole),
        epochs=Epochs(plan.epochs),
        metadata={"evenhand_digest": whole.digest, "evenhand_study": plan.name},
    )


def open_instrument(folder: Path) -> tuple[Plan, Instrument]:
    """The plan and the instrument of a run directory.

    Raises:
        InputError: Not a run directory.
    """
    run = folder.parent if folder.name == "instrument" and not (folder / "study.toml").exists() else folder
    if not (run / "study.toml").is_file():
        raise InputError(
            "this is not a run directory (it has no study.toml)",
            where=str(folder),
            mend="Make one with `evenhand build STUDY -o RUN`, and give -T instrument=RUN",
        )
    return load_plan(run / "study.toml"), load_instrument(run / "instrument")


@solver
def put_unit(instrument: Instrument, plan: Plan) -> Solver:
    """Ask as `evenhand run` does: seed by epoch, malformed answers asked for again, functions forced."""
    settings = plan.settings
    lexicon = teach(instrument)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - Inspect's own signature
        model = get_model()
        _teach(model, lexicon)
        unit = instrument.by_key[str(state.sample_id)]
        respondent = Respondent(str(model))
        for malformed in range(settings.malformed_retries + 1):
            seed = settings.seed + 1000 * (state.epoch - 1) + malformed
            state.output = await _ask(model, unit, request_settings(settings, respondent, seed=seed), respondent)
            if unit.read(reply_of(state.output)).status != "malformed":
                break
        if not state.output.empty:
            state.messages.append(state.output.message)
        return state

    return solve


def _teach(model: Model, lexicon: Any) -> None:
    from evenhand.collection.simulated import SimulatedAPI

    if isinstance(model.api, SimulatedAPI):
        model.api.teach(lexicon)


async def _ask(model: Model, unit: Unit, base: dict[str, Any], respondent: Respondent) -> Any:
    asked = unit_settings(unit, base, respondent)
    tools, choice = inspect_tools(unit, asked.get("tool_choice", "auto"))
    config = inspect_config(unit, asked, timeout=None).model_copy(update={"max_retries": None})
    return await model.generate(unit.prompt, tools=tools, tool_choice=choice, config=config, cache=False)


@scorer(metrics=[mean()])
def read_answer(instrument: Instrument) -> Scorer:
    """Read answers as the outcomes do; what is no answer stays unscored, with Inspect's word for why.

    The value is the answer of a single unit; of a bundle it is 1, its answer being one number a slot.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - Inspect's own signature
        unit = instrument.by_key[str(state.sample_id)]
        answer = unit.read(reply_of(state.output))
        metadata = {"status": answer.status, "value": answer.value, "flags": list(answer.flags)}
        if answer.status != "answered":
            return Score.unscored(
                reason=UNSCORED[answer.status],
                answer=state.output.completion,
                explanation=answer.reason,
                metadata=metadata,
            )
        value = answer.value if isinstance(answer.value, int) else 1
        return Score(value=value, answer=state.output.completion, metadata=metadata)

    return score
