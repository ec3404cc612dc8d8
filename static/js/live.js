// Replaces an element by a fresh copy of itself while the page is looked at; rarely otherwise; not at all when it says it is done.
const LOOKED_AT = 2000;
const IN_BACKGROUND = 30000;

async function refresh(element) {
  const response = await fetch(element.dataset.live, { headers: { "X-Requested-With": "fetch" } });
  if (!response.ok) return element;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild;
  if (!fresh || element.contains(document.activeElement)) return element; // never take a control away under the keyboard
  element.replaceWith(fresh);
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
