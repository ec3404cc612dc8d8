// Sending grades so that a lost connection loses nothing: the newest state of a drawing is kept, said, and tried again.
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

export async function post(url, fields, say) {
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const headers = { Accept: "application/json", "X-CSRFToken": token };
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    try {
      const response = await fetch(url, { method: "POST", headers, body: new URLSearchParams(fields), redirect: "error" });
      const json = response.headers.get("Content-Type")?.startsWith("application/json");
      if (response.status < 500) return { ok: response.ok, body: json ? await response.json() : null };
      say("The server could not save that. Your grades are kept and will be sent again automatically.");
    } catch {
      say("No connection. Your grades are kept and will be sent when the connection is back.");
    }
    await pause(wait);
  }
}

// Grades that were under way when the page went away are sent first; if they had arrived, nothing changes.
const KEPT = "pending-grades";
export const keep = (url, fields) => sessionStorage.setItem(KEPT, JSON.stringify({ url, fields }));
export const letGo = () => sessionStorage.removeItem(KEPT);
export async function resumeKept(say) {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  if (!kept) return null;
  const answer = await post(kept.url, kept.fields, say);
  letGo();
  say("");
  return { ...answer, url: kept.url };
}
