// The codes of the result as chips: the first is the main diagnosis; moved by dragging and by keys.

import { fill, h, words } from "./page.js";
import { written } from "./outcome.js";

export class Chips {
  // `place(code, to)`: a code goes to another place; `drop(code)`: it is taken out.
  constructor(box, { place, drop }) {
    Object.assign(this, { box, place, drop, held: null });
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("dragover", (event) => { if (this.held) event.preventDefault(); });
    box.addEventListener("drop", (event) => this.dropped(event));
  }

  show(codes) {
    const focused = this.box.contains(document.activeElement) ? document.activeElement.dataset.chip : null;
    this.box.replaceChildren(...codes.map((one, at) => this.chip(one, at)));
    if (focused) (this.box.querySelector(`[data-chip="${CSS.escape(focused)}"]`) ?? this.box.querySelector(".chip"))?.focus({ preventScroll: true });
  }

  chip(one, at) {
    const { code } = one;
    const kind = at ? words.side_diagnosis : words.main_diagnosis;
    return h("li", {}, h("button", { type: "button", class: `chip${at ? "" : " main"}${one.terminal === false ? " unusable" : ""}`, "data-chip": code, draggable: "true", title: `${one.title} (${kind})`,
      "aria-label": `${at ? "" : `${words.main_short} `}${written(one)} ${one.title}, ${kind}. ${fill(words.chip_keys, { code })}`,
      ondragstart: (event) => { this.held = code; event.dataTransfer.setData("text/plain", written(one)); }, ondragend: () => { this.held = null; } },
      !at && h("span", { class: "kind" }, words.main_short), !at && " ", written(one)));
  }

  key(event) {
    const all = [...this.box.querySelectorAll(".chip")];
    const at = all.indexOf(event.target);
    if (at < 0) return;
    const { chip } = event.target.dataset;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const go = by && event.shiftKey ? () => this.place(chip, Math.max(0, at + by)) : by ? () => all[at + by]?.focus()
      : event.key === "Delete" ? () => this.drop(chip) : event.key === "Home" ? () => this.place(chip, 0) : null;
    if (!go) return;
    event.preventDefault();
    go();
  }

  dropped(event) {
    const chip = event.target.closest?.(".chip");
    if (!this.held) return;
    event.preventDefault();
    const all = [...this.box.querySelectorAll(".chip")].map((one) => one.dataset.chip);
    this.place(this.held, chip ? all.indexOf(chip.dataset.chip) : all.length - 1);
    this.held = null;
  }
}
