"use strict";
(() => {
  // A number that is missing comes last, whichever way a column is sorted.
  const value = (row, column) => {
    const cell = row.cells[column];
    const { value: number } = cell.dataset;
    if (number === undefined) return cell.textContent.trim();
    return number === "" ? "" : Number(number);
  };
  const order = (a, b, up) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    return (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))) * (up ? 1 : -1);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows];
      table.tBodies[0].append(...rows.sort((a, b) => order(value(a, column), value(b, column), up)));
    }));
  }
})();
