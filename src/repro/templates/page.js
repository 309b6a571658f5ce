"use strict";
// Everything can be read without this. With it, a click on a box or a piece of code shows its entry beside what was
// clicked, and lights up whatever on the page is of the same node.
const panel = document.getElementById("panel");
let origin = null;

function light(key) {
  for (const one of document.querySelectorAll(".lit")) {
    one.classList.remove("lit");
  }
  if (key !== null) {
    for (const one of document.querySelectorAll("[data-key]")) {
      one.classList.toggle("lit", one.dataset.key === key);
    }
  }
}

function close() {
  light(null);
  panel.hidden = true;
  panel.replaceChildren();
  if (origin !== null) {
    origin.focus({ preventScroll: true });
  }
  origin = null;
}

function show(link) {
  const key = link.dataset.key;
  origin = link;
  light(key);
  const button = document.createElement("button");
  button.textContent = "close";
  button.addEventListener("click", close);
  // What was clicked comes first, then the same node in the other graph.
  const asked = (entry) => `#${entry.id}` === link.getAttribute("href");
  const copies = [...document.querySelectorAll(".entries .entry")]
    .filter((entry) => entry.dataset.key === key)
    .sort((one, other) => asked(other) - asked(one))
    .map((entry) => entry.cloneNode(true));
  for (const copy of copies) {
    copy.removeAttribute("id");
    copy.removeAttribute("data-key");
    copy.classList.remove("lit");
  }
  panel.replaceChildren(button, ...copies);
  panel.hidden = false;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-key]");
  if (link !== null) {
    event.preventDefault();
    show(link);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    close();
  }
});

// A large graph opens where it goes wrong.
for (const first of document.querySelectorAll(".canvas .first, .canvas .kept")) {
  const canvas = first.closest(".canvas");
  if (!canvas.dataset.placed) {
    canvas.dataset.placed = "yes";
    const box = first.getBoundingClientRect();
    const frame = canvas.getBoundingClientRect();
    canvas.scrollTop += box.top - frame.top - frame.height / 3;
    canvas.scrollLeft += box.left - frame.left - (frame.width - box.width) / 2;
  }
}
