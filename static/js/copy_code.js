// The button that copies a participant's code; where a browser has no clipboard, the code can be selected.
const button = document.getElementById("copy");
const code = document.getElementById("code");

if (navigator.clipboard) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent.trim());
      button.textContent = button.dataset.copied;
    } catch {
      getSelection().selectAllChildren(code);
    }
  });
}
