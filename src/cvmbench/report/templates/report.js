"use strict";
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const original = Array.from(body.rows);
  const headers = Array.from(table.tHead.rows[0].cells);
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      const order = next[header.getAttribute("aria-sort") || "none"];
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      if (order !== "none") header.setAttribute("aria-sort", order);
      body.append(...(order === "none" ? original : sorted(original, column, order)));
    });
  });
  table.classList.add("sortable");
}

function sorted(rows, column, order) {
  const sign = order === "ascending" ? 1 : -1;
  const keyed = rows.map((row) => [keyOf(row.cells[column]), row]);
  // Rows without a value stay last in either order.
  keyed.sort(([a], [b]) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b));
  });
  return keyed.map(([, row]) => row);
}

function keyOf(cell) {
  const key = cell.dataset.key;
  if (key === undefined) return cell.textContent.trim();
  return key === "" ? "" : Number(key);
}

window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
