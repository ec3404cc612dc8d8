// Keys of the judge's page. Key repeat, modifiers and typing in fields are left alone.
// On some keyboards ? + 1 2 3 need Shift; where letters are not Latin, a key counts by its place.
import { isStacked, keepMiddle } from "./judge_view.js";

const at = (id) => document.getElementById(id);
const ZOOMS = 3;
const WITH_SHIFT = ["?", "+", "1", "2", "3"];
let side = "left";
let tabbed = false; // the focus was last moved with Tab
let zoom = Number(sessionStorage.getItem("zoom") || 0);

function setZoom(level) {
  zoom = Math.max(0, Math.min(ZOOMS, level));
  sessionStorage.setItem("zoom", zoom);
  keepMiddle(() => { at("stage").className = zoom ? `zoom-${zoom}` : ""; });
}

function chooseSide(name) {
  side = name;
  document.querySelectorAll(".half").forEach((half) => half.classList.toggle("chosen", half.dataset.side === name));
  at("marks").open = true;
}

function markFont(number) {
  const box = document.querySelector(`#marks [name=${side}_breaks][value="${number}"]`);
  at("marks").open = true;
  box.checked = !box.checked;
}

// A drawing is reported by the name that it has on the screen.
function nameSides() {
  for (const half of document.querySelectorAll(".half")) {
    const option = document.querySelector(`#report option[value=${half.dataset.side}]`);
    option.dataset.beside ??= option.textContent;
    option.textContent = isStacked() ? half.dataset.stacked.toLowerCase() : option.dataset.beside;
  }
}

function toggle(id) {
  at(id).open = !at(id).open;
  if (!at(id).open) return;
  nameSides();
  at(id).scrollIntoView({ block: "nearest" });
  (at(id).querySelector("select, input:not([type=hidden])") || at(id).querySelector("summary")).focus();
}

function keyOf({ key, code }) {
  return (key > "~" && key.length === 1 ? code.replace(/^Key/, "") : key).toLowerCase();
}

export function listenForKeys({ vote, undo }) {
  const actions = {
    a: () => vote("left"), s: () => vote("tie"), d: () => vote("right"), f: () => vote("fail"), " ": () => vote("skip"),
    z: undo, x: () => toggle("report-box"), "?": () => toggle("keys-box"),
    "+": () => setZoom(zoom + 1), "-": () => setZoom(zoom - 1),
  };
  const marks = { // where there are no fonts to mark, the arrows scroll
    1: () => markFont(1), 2: () => markFont(2), 3: () => markFont(3),
    arrowleft: () => chooseSide("left"), arrowright: () => chooseSide("right"),
  };
  if (at("marks")) Object.assign(actions, marks);
  document.addEventListener("keydown", (event) => {
    if (event.repeat && event.key === "Enter" && event.target.closest?.("button")) event.preventDefault(); // one press, one vote
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.shiftKey && !WITH_SHIFT.includes(event.key)) return;
    if (event.key === "Escape") { at("report-box").open = at("keys-box").open = false; document.activeElement?.blur(); return; }
    if (event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    if (event.key === " " && tabbed && event.target.matches?.("a, button, summary, input")) return; // presses what was chosen
    const action = actions[keyOf(event)];
    if (!action) return;
    event.preventDefault();
    action();
  });
  // A button that was clicked still has the focus, and Space would press it again; one that was reached by Tab is meant.
  document.addEventListener("pointerdown", () => { tabbed = false; }, true);
  document.addEventListener("keydown", ({ key }) => { tabbed ||= key === "Tab"; }, true);
  document.addEventListener("keyup", (event) => { if (event.key === " " && !tabbed && event.target.matches?.("button")) event.preventDefault(); });
  for (const [id, step] of [["smaller", -1], ["larger", 1]]) at(id).addEventListener("click", () => setZoom(zoom + step));
  for (const [id, box] of [["open-report", "report-box"], ["open-keys", "keys-box"]]) {
    at(id).hidden = false;
    at(id).addEventListener("click", () => toggle(box));
  }
  document.querySelector(".zoom").hidden = false;
  setZoom(zoom);
}
