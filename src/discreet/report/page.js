"use strict";
// Sorting, filtering, and folded parts that open on paper. Without it the page still says everything.
(() => {
  for (const [event, open] of [["beforeprint", true], ["afterprint", false]]) {
    window.addEventListener(event, () => {
      for (const part of document.querySelectorAll("details")) part.open = open;
    });
  }

  const table = document.getElementById("rows");
  if (!table) return;
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const cell = row.cells[column];
    return heads[column].dataset.kind === "text" ? cell.textContent : Number(cell.dataset.v);
  };
  const compare = (a, b) =>
    typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    head.dataset.name = button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
      body.append(...rows.map((pair) => pair[1]));
    });
  });

  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const total = body.rows.length;
  search.closest("p").hidden = false;
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    let left = 0;
    for (const row of body.rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      left += row.hidden ? 0 : 1;
    }
    count.textContent = wanted ? `${left} of ${total} shown` : "";
  });
})();
