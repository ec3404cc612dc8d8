// The grading page: sliders, keys, and saving as you go. Everything here works the form that is already on the page.
import { keep, letGo, post, resumeKept } from "./grade_save.js";

const at = (id) => document.getElementById(id);
const form = at("grades");
const rows = [...form.querySelectorAll(".dimension")].map((box) => ({
  box, slide: box.querySelector("[type=range]"), field: box.querySelector("[type=number]"), weight: Number(box.dataset.weight),
}));
const STEP = Number(rows[0].slide.step);
const LOW = Number(rows[0].slide.min);
const HIGH = Number(rows[0].slide.max);
const TYPING_MS = 900; // "1" and "0" within this time are 10
const SAVE_MS = 350;
let timer = null;
let typed = { row: null, digits: "", at: 0 };
let sending = Promise.resolve(true);
let sent = stateText();

function fields() {
  const said = Object.fromEntries(rows.filter((row) => row.field.value !== "").map((row) => [row.field.name, row.field.value]));
  return { ...said, note: at("note").value };
}
function stateText() { return JSON.stringify(fields()); }

function say(text) {
  at("notice").textContent = text;
  at("notice").hidden = !text;
  at("notice").scrollIntoView({ block: "nearest" });
}

function paint(row) {
  const empty = row.field.value === "";
  row.box.classList.toggle("ungraded", empty);
  row.slide.setAttribute("aria-valuetext", empty ? "not graded yet" : row.field.value);
  if (!empty) row.slide.value = row.field.value;
  const whole = rows.every((one) => one.field.value !== "");
  const total = rows.reduce((sum, one) => sum + one.weight, 0);
  const score = rows.reduce((sum, one) => sum + one.weight * Number(one.field.value), 0) / total;
  at("score").textContent = whole ? `${score.toFixed(2)} of ${HIGH}` : "No score yet: it appears when all are graded.";
}

function set(row, value) {
  row.field.value = Math.min(HIGH, Math.max(LOW, value));
  paint(row);
  later();
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(save, SAVE_MS);
}

// One request at a time; the newest state is what counts, and saying it twice changes nothing.
function save() {
  clearTimeout(timer);
  sending = sending.then(async () => {
    const state = stateText();
    if (state === sent || !form.reportValidity()) return state === sent;
    keep(form.action, fields());
    at("saved").textContent = "Saving …";
    const answer = await post(form.action, fields(), say);
    letGo();
    if (!answer.ok) {
      at("saved").textContent = "Not saved";
      say(answer.body?.sentence || "That was not saved. Reload the page.");
      return false;
    }
    sent = state;
    say("");
    at("saved").textContent = "Saved";
    show(answer.body);
    return true;
  });
  return sending;
}

function show({ step, done, total }) {
  at("undo").hidden = false;
  at("undo").step.value = step;
  at("bar").value = done;
  at("bar").max = total;
  at("count").textContent = `${done} of ${total}`;
}

async function leave(href) {
  if (await save()) window.location.assign(href);
}

function enter(row) {
  const place = rows.indexOf(row);
  const missing = rows.find((one) => one.field.value === "");
  if (place < rows.length - 1) rows[place + 1].slide.focus();
  else if (missing) missing.slide.focus();
  else leave(form.dataset.next);
}

function digit(row, key) {
  const quick = typed.row === row && performance.now() - typed.at < TYPING_MS;
  const both = Number(typed.digits + key);
  typed = { row, at: performance.now(), digits: quick && both <= HIGH ? typed.digits + key : key };
  set(row, Number(typed.digits));
}

function onSlideKey(event, row) {
  const arrow = { ArrowRight: STEP, ArrowUp: STEP, ".": STEP, ArrowLeft: -STEP, ArrowDown: -STEP }[event.key];
  if (/^[0-9]$/.test(event.key)) digit(row, event.key);
  else if (arrow) set(row, (row.field.value === "" ? (LOW + HIGH) / 2 : Number(row.field.value)) + arrow);
  else if (event.key === "Enter") enter(row);
  else return;
  event.preventDefault();
}

function toggleScore() {
  const shown = at("score").hidden;
  at("score").hidden = !shown;
  at("show-score").setAttribute("aria-pressed", shown);
  at("show-score").textContent = shown ? "Hide score" : "Show score";
  sessionStorage.setItem("show-score", shown ? "1" : "");
}

function toggleKeys() {
  at("keys-box").open = !at("keys-box").open;
  if (!at("keys-box").open) return;
  at("keys-box").scrollIntoView({ block: "nearest" });
  at("keys-box").querySelector("summary").focus();
}

const actions = {
  "?": toggleKeys,
  p: () => at("previous") && leave(at("previous").href),
  n: () => leave(form.dataset.next),
  s: toggleScore,
  z: () => { if (!at("undo").hidden) at("undo").requestSubmit(); },
};

for (const row of rows) {
  row.slide.hidden = false;
  row.field.tabIndex = -1; // the slider is the same field, and takes digits
  row.slide.addEventListener("input", () => set(row, Number(row.slide.value)));
  row.slide.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) onSlideKey(event, row);
  });
  row.field.addEventListener("input", () => { paint(row); later(); });
  row.field.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); enter(row); } });
  paint(row);
}
at("note").addEventListener("change", later);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (rows.some((row) => row.field.value !== "")) { leave(form.dataset.next); return; }
  rows[0].slide.focus({ preventScroll: true });
  say("Nothing is graded yet. Grade this drawing, or choose Next to leave it for later.");
});
at("undo").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await save()) at("undo").submit();
});
for (const link of document.querySelectorAll(".turn a")) link.addEventListener("click", (event) => { event.preventDefault(); leave(link.href); });
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("textarea, select, input:not([type=range])")) return;
  const action = actions[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
});
at("score-box").hidden = false;
at("show-score").addEventListener("click", toggleScore);
if (sessionStorage.getItem("show-score")) toggleScore();
(rows.find((row) => row.field.value === "") || rows[0]).slide.focus({ preventScroll: true });
resumeKept(say).then((answer) => { if (answer?.ok) window.location.reload(); });
