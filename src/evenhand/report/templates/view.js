"use strict";
(() => {
  const pause = 2000;
  const root = document.documentElement;
  const at = (id) => document.getElementById(id);
  const night = matchMedia("(prefers-color-scheme: dark)");
  const dress = () => { root.dataset.mode = night.matches ? "dark" : "light"; };
  night.addEventListener("change", dress);
  dress();

  // Marks that turn the direction of text are shown by name, so that none can hide what was said.
  const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const text = (value) => value.replace(turning, (mark) => `⟨U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
  // What did not change is left alone, so that screen readers are silent and a selection stays.
  const write = (element, value) => { if (element.textContent !== value) element.textContent = value; };
  const part = (tag, value) => {
    const element = document.createElement(tag);
    element.textContent = text(value);
    return element;
  };

  const fill = (name, rows) => {
    const table = at(`table-${name}`);
    const body = table.tBodies[0];
    const kinds = [...table.tHead.rows[0].cells].map((head) => head.dataset.kind);
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((cells, k) => {
      const row = body.rows[k] ?? body.insertRow();
      cells.forEach((value, column) => {
        let cell = row.cells[column];
        if (!cell) {
          cell = document.createElement(column ? "td" : "th");
          if (!column) cell.scope = "row";
          if (kinds[column]) cell.className = kinds[column];
          cell.append(document.createElement("bdi"));
          row.append(cell);
        }
        write(cell.firstChild, text(value));
      });
    });
  };

  const bars = (found) => {
    const list = at("bars");
    while (list.children.length > 2 * found.length) list.lastChild.remove();
    found.forEach((bar, k) => {
      if (!list.children[2 * k]) {
        const name = document.createElement("dt");
        const value = document.createElement("dd");
        name.id = `bar-${k}`;
        const meter = document.createElement("progress");
        meter.setAttribute("aria-labelledby", name.id);
        value.append(meter, " ", document.createElement("span"));
        list.append(name, value);
      }
      const [name, value] = [list.children[2 * k], list.children[2 * k + 1]];
      write(name, text(bar.name));
      Object.assign(value.firstChild, { max: bar.max, value: bar.value });
      write(value.lastChild, bar.text);
    });
  };

  const showProgress = (found) => {
    at("empty").hidden = !found.empty;
    write(at("empty"), found.empty);
    at("progress").hidden = Boolean(found.empty);
    write(at("said"), found.empty ? "" : found.said);
    at("report").hidden = !found.report.link && !found.report.text;
    at("report-link").hidden = !found.report.link;
    if (found.report.link) at("report-link").href = found.report.link;
    write(at("report-text"), text(found.report.text));
    bars(found.bars);
    fill("models", found.models);
    fill("arms", found.arms);
    at("no-errors").hidden = found.errors.length > 0;
    at("errors").hidden = !found.errors.length;
    fill("errors", found.errors);
  };

  const showEstimates = (found) => {
    write(at("share"), found.share || found.empty);
    at("estimates").hidden = !found.rows.length;
    fill("estimates", found.rows);
  };

  const complain = (problems) => {
    const place = at("problems");
    const lines = problems.map(text);
    if ([...place.children].map((line) => line.textContent).join("\n") === lines.join("\n")) return;
    place.replaceChildren(...problems.map((problem) => {
      const line = part("p", problem);
      line.className = "warning";
      return line;
    }));
  };

  const clock = (moment) => new Date(moment).toLocaleTimeString();
  let version = -1;
  let problems = [];
  const look = async () => {
    try {
      const answer = await fetch("/state.json", { cache: "no-store" });
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      const state = await answer.json();
      if (state.version !== version) {
        version = state.version;
        problems = state.problems.map((problem) => `What is shown may be old: the run could not be read. ${problem}`);
        for (const [name, show] of [["progress", showProgress], ["estimates", showEstimates]]) {
          if (!state[name]) continue;
          show(state[name]);
          write(at(`at-${name}`), clock(state[name].at));
        }
      }
      complain(problems);
    } catch (problem) {
      complain([`The server does not answer (${problem.message}). It was stopped, perhaps; what is shown is the last that it said. Start it again: evenhand view`]);
    }
    setTimeout(look, pause);
  };
  look();
})();
