// Align my scale: a changed grade is saved at once, and its drawing's score counts along.
import { post } from "./grade_save.js";

const at = (id) => document.getElementById(id);

function say(text) {
  at("notice").textContent = text;
  at("notice").hidden = !text;
}

function score(form) {
  const parts = [...form.querySelectorAll("[data-weight]")].map((box) => [Number(box.dataset.weight), box.querySelector("input").value]);
  if (parts.some(([, value]) => value === "")) return "";
  const total = parts.reduce((sum, [weight]) => sum + weight, 0);
  return (parts.reduce((sum, [weight, value]) => sum + weight * Number(value), 0) / total).toFixed(2);
}

async function save(form) {
  if (!form.reportValidity()) return;
  form.querySelector(".total").textContent = score(form);
  const said = Object.fromEntries([...form.querySelectorAll("[type=number]")].filter((field) => field.value !== "").map((field) => [field.name, field.value]));
  const answer = await post(form.action, said, say);
  say(answer.ok ? "" : answer.body?.sentence || "That was not saved. Reload the page.");
  if (!answer.ok) return;
  at("undo").hidden = false;
  at("undo").step.value = answer.body.step;
}

for (const form of document.querySelectorAll(".regrade")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => save(form));
  form.addEventListener("submit", (event) => { event.preventDefault(); save(form); });
}
