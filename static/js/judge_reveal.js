// Where a run tells the names after each vote: on the two drawings, with the choice framed, until the judge goes on.
const at = (id) => document.getElementById(id);
const STAYS_MS = 2000;
const FRAMED = { left: ["left"], right: ["right"], tie: ["left", "right"], fail: [] };
let goOn = null; // ends what is shown now

export const isRevealing = () => document.querySelector("#stage .pair[data-choice]") !== null;

export function frameChoice(outcome) {
  const pair = document.querySelector("#stage .pair");
  pair.dataset.choice = outcome;
  for (const side of FRAMED[outcome]) pair.querySelector(`.half[data-side=${side}]`).classList.add("voted");
}

// The vote was refused: the pair is to be judged again.
export function takeBackChoice() {
  const pair = document.querySelector("#stage .pair");
  delete pair.dataset.choice;
  pair.querySelectorAll(".voted").forEach((half) => half.classList.remove("voted"));
}

function stay() {
  at("revealed").classList.add("stays");
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || ["Shift", "Tab"].includes(event.key)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (event.key === " " || (event.key === "Enter" && event.target === at("go-on"))) { if (!event.repeat) goOn(); } else stay();
}

// Settles when the next pair may come: after two seconds, or by Space or the button once another key, a click or a tap stopped the clock.
export async function reveal(names) {
  const pair = document.querySelector("#stage .pair");
  for (const [side, name] of Object.entries(names)) {
    const label = document.createElement("p");
    label.className = "drawn-by";
    label.textContent = name;
    pair.querySelector(`.half[data-side=${side}]`).after(label);
  }
  at("revealed").classList.remove("stays");
  at("revealed").hidden = false;
  document.addEventListener("keydown", onKey, true);
  pair.addEventListener("click", stay);
  await new Promise((done) => {
    goOn = done;
    at("go-on").addEventListener("click", done, { once: true });
    setTimeout(() => { if (!at("revealed").classList.contains("stays")) done(); }, STAYS_MS);
  });
  document.removeEventListener("keydown", onKey, true);
  at("revealed").hidden = true;
  delete pair.dataset.choice;
}
