// Posting a form so that a lost connection loses nothing: kept, said, tried again. The server counts a vote once, by its code.
const KEPT = "pending-vote";
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

function body(fields) {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) form.append(name, one);
  return form;
}

async function once(url, fields) {
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const headers = { Accept: "application/json", "X-CSRFToken": token };
  const response = await fetch(url, { method: "POST", headers, body: body(fields), redirect: "error" });
  const json = response.headers.get("Content-Type")?.startsWith("application/json");
  return { ok: response.ok, status: response.status, body: json ? await response.json() : null };
}

export async function send(url, fields, say) {
  if (fields.outcome) sessionStorage.setItem(KEPT, JSON.stringify({ url, fields }));
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    try {
      const answer = await once(url, fields);
      if (answer.status !== 429 && answer.status < 500) {
        if (fields.outcome) sessionStorage.removeItem(KEPT);
        return answer;
      }
      if (answer.status >= 500) say("The server did not take that in. Your vote is kept and sent again by itself.");
    } catch {
      say("No connection. Your vote is kept and sent by itself when the connection is back.");
    }
    await pause(wait);
  }
}

// A vote that was under way when the page went away is sent first; if it had arrived, nothing happens twice.
export async function resumePending(say) {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  if (kept) await send(kept.url, { ...kept.fields, have: "" }, say);
  if (kept) say("");
}
