// What is seen of a pair: pictures that are really there, and both sides scrolled alike.
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
const frames = () => [...document.querySelectorAll(".picture")];

function loadAgain(image) {
  return new Promise((done, fail) => {
    image.onload = done;
    image.onerror = fail;
    image.src = image.src; // the same address once more, which fetches a picture that failed
  });
}

// Settles once the picture is there, or its pair has left the page. One that fails is asked for again: at once, then ever later.
export async function whenLoaded(image, failed) {
  let loading = image.decode();
  for (let wait = 0; ; wait = Math.min(2 * wait + FIRST_WAIT, LONGEST_WAIT)) {
    try { await loading; return; } catch { if (!image.isConnected) return; }
    failed();
    await pause(wait);
    loading = loadAgain(image);
  }
}

export function showMiddle() {
  for (const frame of frames()) frame.scrollTo((frame.scrollWidth - frame.clientWidth) / 2, (frame.scrollHeight - frame.clientHeight) / 2);
}

// Makes drawings larger or smaller around the middle of what is seen of them.
export function keepMiddle(change) {
  const seen = frames().map((frame) => [
    frame,
    (frame.scrollLeft + frame.clientWidth / 2) / frame.scrollWidth,
    (frame.scrollTop + frame.clientHeight / 2) / frame.scrollHeight,
  ]);
  change();
  for (const [frame, x, y] of seen) frame.scrollTo(x * frame.scrollWidth - frame.clientWidth / 2, y * frame.scrollHeight - frame.clientHeight / 2);
}

export function scrollTogether(stage) {
  const moved = new Set(); // by us: where one side ends earlier, its own event must not hold the other back
  stage.addEventListener("scroll", ({ target }) => {
    if (!target.matches?.(".art, .picture") || moved.delete(target)) return;
    for (const other of stage.querySelectorAll(".art, .picture")) {
      const { scrollLeft, scrollTop } = other;
      if (other !== target) other.scrollTo(target.scrollLeft, target.scrollTop);
      if (other.scrollLeft !== scrollLeft || other.scrollTop !== scrollTop) moved.add(other);
    }
  }, true);
}

// Where the drawings stand one above the other, left is the top one and right the bottom one.
export const isStacked = () => window.matchMedia("(max-width: 640px)").matches;
