// Calculates the plan anew while it is typed; without this the form leads to a page with the same panel.
const PAUSE = 250;

for (const form of document.querySelectorAll("form[data-plan]")) {
  const panel = form.parentElement;
  let timer, asked = 0;

  async function calculate() {
    const number = ++asked;
    const values = new URLSearchParams(new FormData(form));
    values.set("part", "outlook");
    const response = await fetch(`${form.action}?${values}`);
    if (!response.ok || number !== asked) return; // a later one is under way
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-outlook]");
    if (fresh) panel.querySelector("[data-outlook]").replaceChildren(...fresh.childNodes);
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => calculate().catch(() => {}), PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    calculate().catch(() => form.submit());
  });
}
