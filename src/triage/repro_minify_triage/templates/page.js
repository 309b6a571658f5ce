"use strict";
const filters = [...document.querySelectorAll("select[data-filter]")];
const cards = [...document.querySelectorAll(".card")];
const shown = document.getElementById("shown");

function apply() {
  let count = 0;
  for (const card of cards) {
    card.hidden = !filters.every((f) => f.value === "" || card.dataset[f.dataset.filter] === f.value);
    count += card.hidden ? 0 : 1;
  }
  shown.textContent = `${count} of ${cards.length} bug${cards.length === 1 ? "" : "s"}`;
}

const onlyChanged = document.getElementById("only-changed");
function applyToRows() {
  for (const row of document.querySelectorAll("tbody tr")) {
    row.hidden = onlyChanged.checked && row.querySelector(".changed") === null;
  }
}

filters.forEach((f) => f.addEventListener("change", apply));
onlyChanged.addEventListener("change", applyToRows);
apply();
