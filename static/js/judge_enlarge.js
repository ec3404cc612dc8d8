// One drawing alone, as large as the window allows; an arrow key shows the other one in its place, at the same scale.
const DRAWINGS = ".art, .picture";
const dialog = document.createElement("dialog");
dialog.tabIndex = -1;
let sides = {}; // the same face of both drawings

function showSide(side) {
  if (!sides[side]) return;
  dialog.replaceChildren(sides[side].cloneNode(true));
  dialog.focus();
}

function enlarge(node) {
  const half = node.closest(".half");
  const place = [...half.querySelectorAll(DRAWINGS)].indexOf(node);
  sides = Object.fromEntries([...half.parentElement.querySelectorAll(".half")].map((each) => [each.dataset.side, each.querySelectorAll(DRAWINGS)[place]]));
  dialog.className = node.closest(".pair").className.replace("pair", "enlarged"); // with the size of the larger drawing
  dialog.showModal();
  showSide(half.dataset.side);
}

export function listenForEnlarging(stage) {
  dialog.setAttribute("aria-label", stage.dataset.enlarged);
  document.body.append(dialog);
  stage.addEventListener("click", ({ target, detail }) => {
    const node = target.closest(DRAWINGS);
    if (node && detail === 1 && document.getSelection().isCollapsed && !node.closest("[data-choice]")) enlarge(node);
  });
  stage.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.repeat || !event.target.matches(DRAWINGS)) return;
    event.preventDefault();
    enlarge(event.target);
  });
  dialog.addEventListener("click", ({ detail }) => { if (detail === 1) dialog.close(); });
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // no vote while one of the two is hidden
    if (event.key.startsWith("Arrow")) { event.preventDefault(); showSide(event.key.slice(5).toLowerCase()); }
    if ([" ", "Enter"].includes(event.key) && !event.repeat) { event.preventDefault(); dialog.close(); }
  });
}
