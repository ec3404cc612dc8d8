// A tip beside the mark that is pointed at or focused. Marks carry its lines in data-tip; a <title> says the same without script.
for (const figure of document.querySelectorAll("figure.tips")) {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  figure.append(tip);
  for (const mark of figure.querySelectorAll("svg.chart [data-tip]")) {
    mark.querySelector("title")?.remove(); // or the browser shows a second tip
    mark.addEventListener("pointerenter", () => show(mark));
    mark.addEventListener("focus", () => show(mark));
    mark.addEventListener("pointerleave", hide);
    mark.addEventListener("blur", hide);
  }
  figure.addEventListener("keydown", (event) => event.key === "Escape" && hide());

  function show(mark) {
    const lines = mark.dataset.tip.split("|");
    tip.replaceChildren(...lines.map((line, place) => Object.assign(document.createElement(place ? "div" : "strong"), { textContent: line })));
    tip.hidden = false;
    const frame = figure.getBoundingClientRect();
    const box = (mark.querySelector(".mark") || mark).getBoundingClientRect();
    const left = box.left - frame.left + box.width / 2;
    const fits = left - tip.offsetWidth - 16 > 0;
    tip.style.left = `${fits ? left - tip.offsetWidth - 16 : Math.min(left + 16, frame.width - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(0, box.top - frame.top - tip.offsetHeight - 4)}px`;
    mark.classList.add("pointed");
  }

  function hide() {
    tip.hidden = true;
    figure.querySelector(".pointed")?.classList.remove("pointed");
  }
}
