// Buttons that copy a link, a code or a secret; where a browser has no clipboard, or keeps it, the text can be selected.
for (const button of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent.trim());
      button.textContent = button.dataset.copied;
    } catch {
      if (source.select) source.select();
      else getSelection().selectAllChildren(source);
    }
  });
}
