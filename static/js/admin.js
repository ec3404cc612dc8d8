// Django's two-list chooser names its magnifying glass without a role, so screen readers pass over the name.
window.addEventListener("load", () => {
  for (const icon of document.querySelectorAll("span.help-tooltip[aria-label]")) icon.setAttribute("role", "img");
});
