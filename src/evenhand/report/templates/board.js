"use strict";
(() => {
  const root = document.documentElement;
  const button = document.getElementById("mode");
  const choose = (dark) => {
    root.dataset.mode = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => choose(root.dataset.mode !== "dark"));
  choose(matchMedia("(prefers-color-scheme: dark)").matches);

  const form = document.getElementById("filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("#table-leaderboard tbody tr")];
  const show = () => {
    const words = form.elements.text.value.trim().toLowerCase();
    const source = form.elements.source.value;
    for (const row of rows) {
      row.hidden = (source !== "" && row.dataset.source !== source) || !row.textContent.toLowerCase().includes(words);
    }
    document.getElementById("shown").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} models`;
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
