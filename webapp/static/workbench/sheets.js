// A file's pages as images from the server, and over them the boxes of what evidences each value.
// Nothing of a file is kept: no storage, no address; the images are gone with the page.

import { fill, h, post } from "./page.js";

const WIDTH = 1100; // pixels of an image

// The bytes of a chosen file as a call carries them.
export async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 0x8000) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(pieces.join(""));
}

export class Sheets {
  // `go`: what a click on a box does with its path; `over`: what the pointer over it does.
  constructor(box, { url, go, over }) {
    Object.assign(this, { box, url, pages: new Map(), call: null });
    const under = (event) => document.elementsFromPoint(event.clientX, event.clientY).find((element) => element.dataset?.box)?.dataset.box;
    box.addEventListener("click", (event) => { const path = under(event); if (path) go(path); });
    box.addEventListener("mousemove", (event) => { const path = under(event); if (path) over(path); });
  }

  // The pages of a file that was read; each image is asked for when its page comes near the window.
  show(file, read, words) {
    this.call?.abort();
    this.call = new AbortController();
    this.watch?.disconnect();
    this.watch = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => this.load(file, Number(one.target.dataset.page))), { rootMargin: "400px" });
    this.pages = new Map();
    this.drawn = null;
    this.box.replaceChildren(...(read.pages ?? []).map(({ number, width, height }) => {
      const boxes = h("div", { class: "boxes" });
      const image = h("img", { alt: fill(words.sheet, { n: number, name: file.name }), width: Math.round(width), height: Math.round(height) });
      const sheet = h("div", { class: "sheet", "data-page": number }, image, boxes);
      this.pages.set(number, { width, height, boxes, image, asked: false });
      this.watch.observe(sheet);
      return sheet;
    }));
  }

  async load(file, number) {
    const page = this.pages.get(number);
    if (!page || page.asked) return;
    page.asked = true;
    try {
      const answer = await post(this.url, { content: { data: file.data }, draw: [number], width: WIDTH }, this.call.signal);
      const told = (await answer.text()).split("\n\n").find((piece) => piece.trim().startsWith("data: "));
      const event = told && JSON.parse(told.trim().slice(6));
      const image = event?.answer?.pages?.find((one) => one.number === number)?.image;
      if (image) page.image.src = `data:image/png;base64,${image}`;
      else page.asked = false;
    } catch (error) {
      if (error.name !== "AbortError") page.asked = false;
    }
  }

  // The boxes of the evidence shown, in shares of their page.
  draw(evidence, review, active) {
    // the same boxes stay: an element that goes between the press and the release of a button gets no click
    const drawn = JSON.stringify([evidence.map((one) => one.path), review.map((one) => one.path)]);
    if (drawn === this.drawn) return this.tie(active, false);
    this.drawn = drawn;
    for (const page of this.pages.values()) page.boxes.replaceChildren();
    for (const one of evidence) {
      const doubtful = review.some((note) => note.path === one.path);
      for (const { page: number, left, top, right, bottom } of one.boxes ?? []) {
        const page = this.pages.get(number);
        if (!page) continue;
        const made = h("div", { class: `box ${doubtful ? "suspected" : "present"}${one.path === active ? " active" : ""}`, "data-box": one.path });
        const share = (part, whole) => `${(100 * part) / whole}%`;
        Object.assign(made.style, { left: share(left, page.width), top: share(top, page.height), width: share(right - left, page.width), height: share(bottom - top, page.height) });
        page.boxes.append(made);
      }
    }
  }

  tie(path, follow = true) {
    for (const made of this.box.querySelectorAll(".box")) made.classList.toggle("active", made.dataset.box === path);
    if (follow && !this.box.hidden) this.box.querySelector(".box.active")?.scrollIntoView({ block: "nearest" });
  }
}
