// The start page: the maximum cost follows the models and attempts that are chosen, and says where the budget ends it.
const bound = document.getElementById("bound");
const form = document.querySelector("form:has([name=attempts])");
const NANO = 1e9;
const dollars = (nano) => `US$${(nano / NANO).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: nano < NANO ? 4 : 2 })}`;

function sentence() {
  const costs = JSON.parse(bound.dataset.costs);
  const chosen = [...form.querySelectorAll("[name=models]:checked")].map((box) => box.value);
  const attempts = Number(form.attempts.value);
  if (!chosen.length) return "Choose at least one model.";
  if (!Number.isInteger(attempts) || attempts < 1) return "Attempts is a whole number, 1 or more.";
  const what = `With ${chosen.length} model${chosen.length === 1 ? "" : "s"} and ${attempts} attempt${attempts === 1 ? "" : "s"}`;
  const unpriced = chosen.filter((id) => costs[id] === null);
  if (unpriced.length) return `${what}, the maximum cost is unknown: ${unpriced.join(", ")} has no price in models.yaml. Set a budget.`;
  const most = chosen.reduce((sum, id) => sum + costs[id], 0) * attempts;
  const budget = form.budget.value === "" ? Infinity : Number(form.budget.value) * NANO;
  const end = most > budget ? ` The budget ends the run at ${dollars(budget)}.` : "";
  return `${what}, the maximum cost is ${dollars(most)}.${end}`;
}

if (bound && form) {
  bound.setAttribute("role", "status");
  form.addEventListener("input", () => { bound.textContent = sentence(); });
}
