// The judge's page: keys, the next pair ready before it is needed, and a vote that is never lost or doubled.
// Everything here presses what is already on the page; without it the forms work by themselves.
import { keep, kept, resumeKept, send } from "./judge_send.js";
import { listenForKeys } from "./judge_keys.js";
import { listenForEnlarging } from "./judge_enlarge.js";
import { frameChoice, isRevealing, reveal, takeBackChoice } from "./judge_reveal.js";
import { isStacked, scrollTogether, showMiddle, whenLoaded } from "./judge_view.js";

const at = (id) => document.getElementById(id);
const stage = at("stage");
const ballot = at("ballot");
const undoForm = at("undo");
const buttons = [...ballot.elements].filter((field) => field.name === "outcome");
const FACES = ['16px "Courier New"', '16px "Consolas"', '16px "Fira Code"', '16px "Bench Courier"', '16px "Bench DejaVu"', '16px "Bench Fira"'];
const TOO_SOON_MS = 300; // nobody has looked at a pair by then, and the server would not take the vote
const STREAK = 60;
const BREAK_MS = 5 * 60 * 1000;

let next = null; // { code, nodes } of the pair behind this one, its pictures already on their way
let shownAt = 0; // when the pair was fully drawn
let votedAt = -TOO_SOON_MS;
let votesAhead = 0; // votes given but not yet answered
let tail = Promise.resolve(); // requests go one after the other

function parse(pair) {
  return pair && pair.html ? { code: pair.code, nodes: document.createRange().createContextualFragment(pair.html) } : null;
}

const locked = () => buttons[0].ariaDisabled === "true"; // no vote is taken then

function lock() {
  at("unloaded").hidden = true;
  buttons.forEach((button) => { button.ariaDisabled = "true"; }); // not `disabled`, which would take the focus from the one pressed
}

function unlock() {
  buttons.forEach((button) => { button.ariaDisabled = null; });
}

async function unlockWhenDrawn() {
  lock();
  const pair = stage.querySelector(".pair");
  const missing = () => { at("unloaded").hidden = false; };
  const pictures = [...pair.querySelectorAll("img")].map((image) => whenLoaded(image, missing));
  const art = [...pair.querySelectorAll(".art")].map((drawing) => drawing.textContent).join(""); // a face has files by range
  await Promise.all([Promise.allSettled(FACES.map((face) => document.fonts.load(face, art))), ...pictures]);
  requestAnimationFrame(() => {
    if (!pair.isConnected) return;
    showMiddle();
    shownAt = performance.now();
    at("unloaded").hidden = true;
    setTimeout(() => { if (pair.isConnected) unlock(); }, votedAt + TOO_SOON_MS - shownAt);
  });
}

function show(pair) {
  if (pair) {
    stage.replaceChildren(pair.nodes);
    ballot.code.value = pair.code;
    at("report").code.value = pair.code;
    showMarks();
    window.scrollTo(0, 0);
    unlockWhenDrawn();
  } else {
    lock();
    const waiting = document.createElement("p");
    waiting.className = "waiting";
    waiting.textContent = stage.dataset.waiting;
    stage.replaceChildren(waiting);
  }
}

function say(text) {
  at("notice").textContent = text;
  at("notice").hidden = !text;
}

function showProgress({ words, value, max }) {
  at("count").textContent = words;
  at("bar").hidden = !max;
  at("bar").max = max || 1;
  at("bar").value = value || 0;
}

function showMarks(marks = {}) {
  for (const box of [...ballot.elements].filter((field) => field.type === "checkbox")) {
    box.checked = Boolean(marks[box.name.replace("_breaks", "")]?.includes(Number(box.value)));
    if (box.checked) at("marks").open = true;
  }
}

function showUndo(code, said, stacked) {
  undoForm.hidden = !code;
  undoForm.code.value = code || "";
  at("said").textContent = (isStacked() && stacked) || said;
}

// What the server says is on the screen. While other votes are still under way, only the pair behind is taken from it.
async function take(line) {
  showProgress(line.progress);
  showUndo(line.undo, line.said, line.stacked);
  if (isRevealing() && line.revealed) await reveal(line.revealed);
  else if (isRevealing() && votesAhead === 0) { takeBackChoice(); unlock(); }
  if (votesAhead > 0) {
    next = parse(line.next) || next;
    if (!stage.querySelector(".pair") && next) { show(next); next = null; }
    return;
  }
  if (!line.current) { window.location.assign(stage.dataset.done); return; }
  const onScreen = stage.querySelector(".pair")?.dataset.code;
  if (line.current.code !== onScreen) {
    const pair = next?.code === line.current.code ? next : parse(line.current);
    if (!pair) { window.location.reload(); return; }
    if (pair === next) next = null;
    show(pair);
    if (line.marks) showMarks(line.marks); // of a vote that was undone
  }
  next = (line.next?.code === next?.code && next) || parse(line.next);
}

async function ask(url, fields) {
  const answer = await send(url, fields, say);
  if (answer.ok) { say(""); return answer.body; }
  if (answer.body?.error === "recorded") { say(answer.body.sentence); return resync(); }
  if (answer.body?.error === "login") { say(answer.body.sentence); return null; }
  if (["closed", "paused"].includes(answer.body?.error) || answer.status === 403) { window.location.reload(); return null; }
  if (answer.body?.sentence) say(answer.body.sentence);
  return resync();
}

async function resync() {
  const have = stage.querySelector(".pair")?.dataset.code || "";
  const answer = await send(stage.dataset.start, { have }, say);
  if (!answer.ok && answer.body?.error !== "login") window.location.reload();
  return answer.ok ? answer.body : null;
}

function inTurn(work) {
  tail = tail.then(work).then((line) => line && take(line));
  return tail;
}

function remind() {
  const before = JSON.parse(sessionStorage.getItem("streak") || "null");
  const now = Date.now();
  const count = before && now - before.at < BREAK_MS ? before.count + 1 : 1;
  sessionStorage.setItem("streak", JSON.stringify({ at: now, count }));
  at("rest").hidden = count === 0 || count % STREAK !== 0;
}

function vote(button) {
  if (locked()) return;
  votedAt = performance.now();
  const fields = {
    code: ballot.code.value,
    outcome: button.value,
    response_ms: Math.round(performance.now() - shownAt),
    left_breaks: new FormData(ballot).getAll("left_breaks"),
    right_breaks: new FormData(ballot).getAll("right_breaks"),
  };
  button.classList.add("pressed");
  setTimeout(() => button.classList.remove("pressed"), 120);
  votesAhead += 1;
  const url = button.value === "skip" ? button.formAction : ballot.action;
  keep(url, fields);
  if ("reveals" in stage.dataset && button.value !== "skip") {
    lock();
    frameChoice(button.value);
  } else {
    show(next);
    next = null;
  }
  remind();
  inTurn(() => {
    const have = isRevealing() ? next?.code : stage.querySelector(".pair")?.dataset.code;
    return ask(url, { ...fields, have: have || "" }).finally(() => { votesAhead -= 1; });
  });
}

function undo() {
  if (undoForm.hidden) return;
  inTurn(() => ask(undoForm.action, { code: undoForm.code.value }));
}

ballot.addEventListener("submit", (event) => { event.preventDefault(); if (event.submitter) vote(event.submitter); });
// The second click of a double click would fall on the next pair.
buttons.forEach((button) => button.addEventListener("click", (event) => { if (event.detail > 1) event.preventDefault(); }));
undoForm.addEventListener("submit", (event) => { event.preventDefault(); undo(); });
at("report").addEventListener("submit", (event) => {
  event.preventDefault();
  const { code, side, reason, note } = event.target;
  at("report-box").open = false;
  inTurn(() => ask(event.target.action, { code: code.value, side: side.value, reason: reason.value, note: note.value }));
});
window.addEventListener("pageshow", ({ persisted }) => { if (persisted) inTurn(resync); }); // back, to a page that stood still

scrollTogether(stage);
listenForEnlarging(stage);
listenForKeys({ vote: (outcome) => { if (!isRevealing()) buttons.find((button) => button.value === outcome).click(); }, undo });
if (isStacked() && at("said").dataset.stacked) at("said").textContent = at("said").dataset.stacked;
document.querySelector(".judge").classList.add("scripted");
if (kept().length) show(null); // what the server still shows has a vote already
else unlockWhenDrawn();
inTurn(async () => {
  await resumeKept(say);
  return resync();
});
