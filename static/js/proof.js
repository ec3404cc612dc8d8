// Finds the number that the server asks for before somebody enters an open arena: SHA-256 of "entry:number" must begin with
// so many zero bits. Begun with the page, a little at a time; written out because browsers hash by themselves on HTTPS only.
const form = document.querySelector("form[data-bits]");
const bits = Number(form.dataset.bits);
const challenge = `${form.elements.entry.value}:`;
const field = form.elements.proof;
const AT_ONCE = 2000;
let waiting = false;

const primes = [];
for (let n = 2; primes.length < 64; n += 1) {
  if (primes.every((p) => n % p)) primes.push(n);
}
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const K = primes.map((p) => fraction(Math.cbrt(p)));
const START = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
const turn = (x, n) => (x >>> n) | (x << (32 - n));

function firstWord(text) {
  const length = text.length;
  const words = new Int32Array((((length + 8) >> 6) + 1) * 16);
  for (let i = 0; i < length; i += 1) words[i >> 2] |= text.charCodeAt(i) << (24 - (i % 4) * 8);
  words[length >> 2] |= 0x80 << (24 - (length % 4) * 8);
  words[words.length - 1] = length * 8;
  const state = START.slice();
  const w = new Int32Array(64);
  for (let block = 0; block < words.length; block += 16) {
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i += 1) {
      if (i < 16) {
        w[i] = words[block + i];
      } else {
        const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
        const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
        w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
      }
      const t1 = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => { state[i] = (state[i] + value) | 0; });
  }
  return state[0] >>> 0;
}

function search(from) {
  for (let number = from; number < from + AT_ONCE; number += 1) {
    if (firstWord(challenge + number) >>> (32 - bits) === 0) {
      field.value = number;
      if (waiting) form.submit();
      return;
    }
  }
  setTimeout(search, 0, from + AT_ONCE);
}

form.addEventListener("submit", (event) => {
  if (field.value) return;
  event.preventDefault();
  waiting = true;
  form.querySelector("button").disabled = true;
});
search(0);
