// Replaces an element by a fresh copy of itself while the page is looked at; rarely otherwise; not at all when it says it is done.
const LOOKED_AT = 2000;
const IN_BACKGROUND = 30000;

// Never take a control away under the keyboard, nor an open form, nor what was typed into one that is always there.
function inUse(element) {
  const fields = [...element.querySelectorAll("input")].filter((field) => !field.closest("details"));
  return fields.some((field) => field.value !== field.defaultValue)
    || element.contains(document.activeElement)
    || element.querySelector("details[open] form") !== null;
}

// The rest of the page, its buttons above all, is of an earlier state: load it again, unless somebody is writing in it.
function followState(from, to) {
  if (to.dataset.state === from.dataset.state) return;
  if (document.activeElement?.matches("input, textarea, select")) to.dataset.state = from.dataset.state;
  else window.location.reload();
}

// What the reader has opened stays open, and what was scrolled sideways stays there.
function carryOver(from, to) {
  for (const open of from.querySelectorAll("details[open][id]")) to.querySelector(`#${open.id}`)?.setAttribute("open", "");
  return [...from.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
}

async function refresh(element) {
  if (inUse(element)) return element;
  const response = await fetch(element.dataset.live);
  if (!response.ok) return element;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild;
  if (!fresh || inUse(element)) return element;
  const scrolled = carryOver(element, fresh);
  followState(element, fresh);
  element.replaceWith(fresh);
  fresh.querySelectorAll(".scroll").forEach((box, number) => { box.scrollLeft = scrolled[number] ?? 0; });
  return fresh;
}

async function follow(element) {
  while (element.dataset.live && element.dataset.done !== "true") {
    await new Promise((wake) => setTimeout(wake, document.hidden ? IN_BACKGROUND : LOOKED_AT));
    try {
      element = await refresh(element);
    } catch {
      // The server restarts or the network is away: the next round tries again.
    }
  }
}

for (const element of document.querySelectorAll("[data-live]")) follow(element);
