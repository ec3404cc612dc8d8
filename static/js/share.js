// Share buttons: the device's own sheet where there is one, else the address goes to the clipboard.
for (const button of document.querySelectorAll("[data-share]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const title = button.dataset.title.replace(/\s+/g, " ");
    try {
      if (navigator.share) await navigator.share({ title, url: location.href });
      else {
        await navigator.clipboard.writeText(location.href);
        button.textContent = "Link copied";
      }
    } catch (error) {
      if (error.name !== "AbortError") button.textContent = "Copy the address bar";
    }
  });
}
