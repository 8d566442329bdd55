"""A run of 40,000 calls on `sim/null`: calls a second and peak memory of the whole process.

    uv run python -m benchmarks.scale [EPOCHS]

A simulated respondent is asked straight; the same respondent registered as another provider goes through Inspect's
model layer, as every model over a network does. The peer is that layer alone, without our event sink, which keeps an
event a call. Target: at least 400 calls a second in under 500 MB.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evenhand import study

UNITS = 2280

_PEER = """
import asyncio, resource
from pathlib import Path
from inspect_ai.model import GenerateConfig, get_model
from evenhand import study
prompts = [unit.prompt for unit in study.build("fairfund", Path({folder!r})).instrument.units]
model = get_model("sim/null", memoize=False, config=GenerateConfig(max_connections=20))
async def main():
    queue = iter([(p, e) for e in range({epochs}) for p in prompts])
    async def work():
        for prompt, epoch in queue:
            await model.generate(prompt, config=GenerateConfig(seed=epoch))
    await asyncio.gather(*(work() for _ in range(20)))
asyncio.run(main())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""

_OURS = """
import resource
from evenhand.cli import main
from inspect_ai.model import ModelAPI, modelapi
from evenhand.collection.simulated import SimulatedAPI

@modelapi(name="relayed")
class Relayed(ModelAPI):
    def __init__(self, model_name, base_url=None, api_key=None, config=None, **arguments):
        super().__init__(model_name, base_url, api_key, [], config)
        self.inner = SimulatedAPI(model_name)
    async def generate(self, input, tools, tool_choice, config):
        return await self.inner.generate(input, tools, tool_choice, config)

try:
    main(["run", {folder!r}, "--model", {model!r}, "--epochs", "{epochs}", "--json"])
except SystemExit as end:
    print("exit", end.code)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measure(script: str) -> tuple[float, float, str]:
    """Seconds, peak MB and the output of a process."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    lines = done.stdout.strip().splitlines()
    return time.perf_counter() - start, float(lines[-1]), "\n".join(lines[:-1])


def main() -> None:
    """Measure both and print the ratios."""
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 18
    calls = UNITS * epochs
    with tempfile.TemporaryDirectory() as name:
        peer = measure(_PEER.format(folder=str(Path(name) / "peer"), epochs=epochs))
        print(
            f"Inspect's model layer alone, {calls:,} calls: {calls / peer[0]:,.0f} a second, {peer[1]:,.0f} MB at most"
        )
        for model in ("sim/null", "relayed/null"):
            folder = Path(name) / model.partition("/")[0]
            study.build("fairfund", folder)
            own = measure(_OURS.format(folder=str(folder), epochs=epochs, model=model))
            size = (folder / "ledger.db").stat().st_size / 2**20
            print(
                f"evenhand run --model {model}: {calls / own[0]:,.0f} a second, {own[1]:,.0f} MB at most, "
                f"{size:,.0f} MB ledger; time {own[0] / peer[0]:.2f} and memory {own[1] / peer[1]:.2f} of the peer's"
            )
    print("whole processes, start-up included")


if __name__ == "__main__":
    main()
