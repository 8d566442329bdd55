"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const button = document.getElementById("mode");
  const models = document.getElementById("models");
  let unchosen = [];
  const alts = new Map([...document.querySelectorAll("[data-figure]")].map((place) => [place, place.ariaLabel]));

  // Figures are drawn one after the other, so that the page can be read meanwhile; nothing is fetched.
  const pause = () => new Promise((done) => setTimeout(done));
  let drawing = 0;
  const draw = async () => {
    const own = ++drawing;
    for (const place of document.querySelectorAll("[data-figure]")) {
      const figure = data.figures[place.dataset.figure];
      // Figures whose rows name a respondent leave out those that are not chosen.
      const chosen = place.dataset.models === undefined || !unchosen.length ? {}
        : { transform: [{ filter: { not: { field: "model", oneOf: unchosen } } }, ...(figure.transform || [])] };
      if (place.dataset.models !== undefined && models && unchosen.length === models.elements.length) {
        place.replaceChildren("No respondent is chosen.");
        continue;
      }
      try {
        // In an element of its own: vega-embed names what it draws into.
        const inner = document.createElement("div");
        inner.setAttribute("aria-hidden", "true");
        place.replaceChildren(inner);
        await vegaEmbed(inner, { ...figure, ...chosen }, { actions: false, renderer: "svg" });
      } catch (problem) {
        place.textContent = `This figure could not be drawn: ${problem.message}`;
        place.removeAttribute("role");
        place.removeAttribute("aria-label");
      }
      await pause();
      if (own !== drawing) return;
    }
    root.dataset.drawn = String(own);
  };
  const choose = (dark) => {
    root.dataset.mode = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
  };
  // Captions and descriptions are of all rows; what was left out is said before them.
  const tell = () => {
    const without = unchosen.length ? `Drawn without ${unchosen.join(", ")}; what follows is of all respondents. ` : "";
    for (const [place, alt] of alts) {
      if (place.dataset.models === undefined) continue;
      if (place.hasAttribute("role")) place.ariaLabel = without + alt;
      place.closest("figure").querySelector("[data-without]").textContent = without;
    }
  };
  if (models) models.addEventListener("change", () => {
    unchosen = [...models.elements].filter((box) => !box.checked).map((box) => box.value);
    tell();
    draw();
  });
  button.addEventListener("click", () => choose(root.dataset.mode !== "dark"));
  choose(matchMedia("(prefers-color-scheme: dark)").matches);
  setTimeout(draw);

  const form = document.getElementById("filter");
  if (!form) return;
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  const step = 20;
  let limit = step;
  const values = (row, name) => (name === "group" ? row.groups : [row[name]]);
  for (const name of ["arm", "model", "group", "status"]) {
    const select = form.elements[name];
    for (const value of [...new Set(data.replies.rows.flatMap((row) => values(row, name)))].sort()) {
      const option = document.createElement("option");
      // Told from "", which stands for all of them, also where a respondent is called so.
      option.value = `=${value}`;
      option.textContent = value || "(none)";
      select.append(option);
    }
  }
  // Marks that turn the direction of text are shown by name, so that none can hide what was said.
  const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const text = (value) => value.replace(turning, (mark) => `⟨U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
  const part = (title, value) => {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = title;
    const body = document.createElement("div");
    body.className = "text";
    body.tabIndex = 0;
    details.append(summary, body);
    // A page of five thousand prompts is laid out one at a time.
    details.addEventListener("toggle", () => { body.textContent = text(value()); }, { once: true });
    return details;
  };
  const item = (row) => {
    const entry = document.createElement("li");
    const head = document.createElement("h3");
    head.textContent = text(`${row.arm} · ${row.model} · ${row.unit}`);
    const what = document.createElement("p");
    what.textContent = text(`${row.status}: ${row.reading}${row.groups.length ? ` (${row.groups.join(", ")})` : ""}`);
    const reply = document.createElement("div");
    reply.className = "text";
    reply.tabIndex = 0;
    reply.textContent = text(row.reply || "no reply") + (row.cut ? `\n[${row.cut} more characters: evenhand replies]` : "");
    entry.append(head, what, reply, part("prompt", () => row.prompt.map((line) => data.replies.lines[line]).join("\n")));
    return entry;
  };
  const show = () => {
    const words = form.elements.text.value.toLowerCase();
    const found = data.replies.rows.filter((row) =>
      ["arm", "model", "group", "status"].every((name) => !form.elements[name].value || values(row, name).includes(form.elements[name].value.slice(1)))
      && (!words || row.reply.toLowerCase().includes(words)));
    list.replaceChildren(...found.slice(0, limit).map(item));
    document.getElementById("shown").textContent = `${Math.min(limit, found.length)} of ${found.length} shown`;
    more.hidden = limit >= found.length;
  };
  form.addEventListener("input", () => { limit = step; show(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => { limit += step; show(); });
  show();
})();
