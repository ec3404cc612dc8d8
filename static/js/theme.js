// Light or dark: the system's choice, or the visitor's own, which this browser keeps.
const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
const root = document.documentElement;
if (kept()) root.dataset.theme = kept();

addEventListener("DOMContentLoaded", () => {
  // On a phone, tabs scroll sideways: the current one is brought into sight.
  const tab = document.querySelector(".tabs [aria-current]"), tabs = tab?.closest(".tabs");
  if (tabs) tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - 32;
  const button = document.getElementById("theme");
  if (!button) return;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => button.setAttribute("aria-label", dark() ? button.dataset.light : button.dataset.dark);
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it holds for this page */ }
    name();
  });
  system.addEventListener("change", name);
  name();
  button.hidden = false;
});
