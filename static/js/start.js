// The start page: the maximum cost follows the models and attempts that are chosen, and says where the budget ends it.
const bound = document.getElementById("bound");
const form = document.querySelector("form:has([name=attempts])");
const NANO = 1e9;
const dollars = (nano) => `US$${(nano / NANO).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: nano < NANO ? 4 : 2 })}`;

function sentence() {
  const costs = JSON.parse(bound.dataset.costs);
  const more = [...form.querySelectorAll("[name=more]:checked")];
  for (const box of more) costs[box.value] = box.dataset.cost === "" ? null : Number(box.dataset.cost);
  const chosen = [...form.querySelectorAll("[name=models]:checked"), ...more].map((box) => box.value);
  const attempts = Number(form.attempts.value);
  if (!chosen.length) return "Choose at least one model.";
  if (!Number.isInteger(attempts) || attempts < 1) return "Attempts must be a whole number, 1 or more.";
  const what = `With ${chosen.length} model${chosen.length === 1 ? "" : "s"} and ${attempts} attempt${attempts === 1 ? "" : "s"}`;
  const unpriced = chosen.filter((id) => costs[id] === null);
  if (unpriced.length) return `${what}, the maximum cost is unknown: ${unpriced.join(", ")} has no known price. Set a budget.`;
  const most = chosen.reduce((sum, id) => sum + costs[id], 0) * attempts;
  const budget = form.budget.value === "" ? Infinity : Number(form.budget.value) * NANO;
  const end = most > budget ? ` The budget ends the run at ${dollars(budget)}.` : "";
  return `${what}, the maximum cost is ${dollars(most)}.${end}`;
}

if (bound && form) {
  bound.setAttribute("role", "status");
  form.addEventListener("input", () => { bound.textContent = sentence(); });
}

// Searches the provider's catalogue as one types. What is ticked moves up, so that the next search leaves it alone.
const catalogue = document.getElementById("catalogue");

function keepChosen() {
  const kept = document.getElementById("chosen");
  for (const box of catalogue.querySelectorAll("#offers [name=more]:checked")) kept.append(box.closest("label"));
}

async function search() {
  const query = new URLSearchParams({ provider: form.provider.value, find: form.find.value });
  const response = await fetch(`${catalogue.dataset.search}?${query}`);
  if (!response.ok || query.get("find") !== form.find.value) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("offers");
  keepChosen();
  const chosen = new Set([...catalogue.querySelectorAll("#chosen [name=more]")].map((box) => box.value));
  for (const box of fresh.querySelectorAll("[name=more]")) if (chosen.has(box.value)) box.closest("label").remove();
  document.getElementById("offers").replaceWith(fresh);
}

if (catalogue?.dataset.search) {
  let waiting;
  const soon = (wait) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search().catch(() => {}), wait);
  };
  form.find.addEventListener("input", () => soon(250));
  form.provider.addEventListener("change", () => soon(0));
  catalogue.querySelector("[name=search]").addEventListener("click", (event) => {
    event.preventDefault();
    soon(0);
  });
}
