// The pair on the home page by keyboard, and without loading the whole page. Without this script its form and links work.
const CHOICES = { a: "left", s: "tie", d: "right", f: "fail" };
const part = () => document.getElementById("practice");
let busy = false;
let latest = 0;

/** A press while one is on its way is ignored; going back is not, and what was on its way then comes too late. */
async function show(url, { keep = true } = {}) {
  if (busy && keep) return;
  const mine = ++latest;
  busy = true;
  const focused = part().contains(document.activeElement);
  try {
    const answer = await fetch(url, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("practice");
    if (mine !== latest) return;
    part().replaceWith(document.adoptNode(fresh));
    if (keep) history.pushState(null, "", url);
    if (focused) (part().querySelector(".answer [data-next]") || part().querySelector("h2")).focus({ preventScroll: true });
  } catch {
    location.href = url; // the page itself says what is wrong
  } finally {
    if (mine === latest) busy = false;
  }
}

document.addEventListener("submit", (event) => {
  if (!part().contains(event.target) || !event.submitter) return;
  event.preventDefault();
  event.submitter.classList.add("pressed");
  const fields = new URLSearchParams(new FormData(event.target, event.submitter));
  show(`${location.pathname}?${fields}`);
});

document.addEventListener("click", (event) => {
  const next = event.target.closest("#practice [data-next]");
  if (!next || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (event.detail > 1) return; // the second click of two was meant for the key that stood here
  show(next.href.split("#")[0]);
});

function inView() {
  const { top, bottom } = part().getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !inView()) return;
  const at = document.activeElement;
  if (at !== document.body && !part().contains(at)) return;
  if (document.querySelector("#practice :popover-open")) return;
  const button = part().querySelector(`.keys [value="${CHOICES[event.key.toLowerCase()]}"]`);
  const next = event.key === " " && (at === document.body || at.tagName === "H2" || at.matches("[data-next]")) && part().querySelector("[data-next]");
  if (!button && !next) return;
  event.preventDefault();
  (button || next).click();
});

addEventListener("popstate", () => show(location.href.split("#")[0], { keep: false }));
