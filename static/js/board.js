// Narrows and sorts a board's table as one types; without it the form's button does the same on the server.
const form = document.querySelector("form[data-board]");
const body = document.querySelector("table.leaderboard tbody");
const all = location.search === "" || [...new URLSearchParams(location.search)].every(([key, value]) => ["category", "rating"].includes(key) || value === "");

if (form && body && all) {
  form.classList.add("scripted");
  const rows = [...body.rows];
  const shown = form.querySelector("[data-shown]");
  const words = shown.textContent.trim().replace(/\s+/g, " ");
  const number = (row, key) => (row.dataset[key] === "" ? Infinity : Number(row.dataset[key]));
  const orders = {
    name: (a, b) => a.dataset.name.localeCompare(b.dataset.name),
    released: (a, b) => b.dataset.released.localeCompare(a.dataset.released),
    seconds: (a, b) => number(a, "seconds") - number(b, "seconds"),
    cost: (a, b) => number(a, "cost") - number(b, "cost"),
    price: (a, b) => number(a, "price") - number(b, "price"),
  };

  const fits = (row, chosen) =>
    `${row.dataset.name} ${row.dataset.organisation}`.toLowerCase().includes((chosen.q || "").trim().toLowerCase()) &&
    (!chosen.organisation || row.dataset.organisation === chosen.organisation) &&
    (!chosen.weights || row.dataset.weights === chosen.weights) &&
    (!chosen.price || number(row, "price") <= Number(chosen.price));

  const update = () => {
    const chosen = Object.fromEntries(new FormData(form));
    const order = orders[chosen.sort];
    const visible = rows.filter((row) => fits(row, chosen));
    for (const row of rows) row.hidden = true;
    for (const row of order ? [...visible].sort(order) : visible) {
      row.hidden = false;
      body.append(row);
    }
    // Brackets and rules speak of neighbours, so they stand only in the whole ranking.
    body.classList.toggle("partial", Boolean(order) || visible.length < rows.length);
    shown.textContent = visible.length < rows.length ? `${visible.length} of ${words}` : words;
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
    history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
  };

  form.addEventListener("input", (event) => {
    if (event.target.name === "category") form.requestSubmit();
    else update();
  });
} else if (form) {
  for (const select of form.querySelectorAll("select")) select.addEventListener("change", () => form.requestSubmit());
}
