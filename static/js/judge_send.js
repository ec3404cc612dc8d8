// Posting a form so that a lost connection loses nothing: kept, said, tried again. The server counts a vote once, by its code.
const KEPT = "pending-votes";
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const texts = () => document.getElementById("stage").dataset; // in the language of the page
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

export const kept = () => JSON.parse(sessionStorage.getItem(KEPT) || "[]");
const store = (votes) => sessionStorage.setItem(KEPT, JSON.stringify(votes));

// From the moment a vote is given, also while others before it are under way, until it was answered.
export function keep(url, fields) {
  store([...kept(), { url, fields }]);
}

function letGo(code) {
  store(kept().filter(({ fields }) => fields.code !== code));
}

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
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    try {
      const answer = await once(url, fields);
      if (answer.status !== 429 && answer.status < 500) {
        // Logged out: the vote stays here and goes out when the judge has logged in again.
        if (fields.outcome && answer.status !== 403) letGo(fields.code);
        return answer;
      }
      if (answer.status >= 500) say(texts().notSaved);
    } catch {
      say(texts().offline);
    }
    await pause(wait);
  }
}

// Votes that were under way when the page went away are sent first; if one had arrived, nothing happens twice.
export async function resumeKept(say) {
  for (const { url, fields } of kept()) {
    await send(url, { ...fields, have: "" }, say);
    say("");
  }
}
