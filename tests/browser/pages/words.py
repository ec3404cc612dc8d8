"""What a page shows above its fold: its words, and where its drawings are."""

from __future__ import annotations

DRAWINGS = ".tile > :is(img, .art), img.drawing, .drawing.text, pre.drawing"
COUNT = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), words = [];
  while (texts.nextNode()) {
    const text = texts.currentNode, range = document.createRange();
    if (text.parentElement.closest("option, .sr, title") || !text.parentElement.checkVisibility()) continue;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    if (box.width && box.top < innerHeight && box.bottom > 0 && box.right > 0)
      words.push(...text.textContent.split(/\\s+/).filter((word) => /\\p{L}/u.test(word)));
  }
  return words;
}"""
