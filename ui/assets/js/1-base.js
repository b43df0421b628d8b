// Keeps a page fresh without moving anything that somebody reads or types: the
// server says that something is new, the page fetches it with its own rights,
// new cards come below the others, and what has ended is marked where it is.
const body = document.body;
const one = (q, from = document) => from.querySelector(q);
const all = (q, from = document) => [...from.querySelectorAll(q)];
const ahead = Date.parse(body.dataset.now) - Date.now(); // of the server's clock
const now = () => Date.now() + ahead;
let seq = Number(body.dataset.seq);
let changedAt = 0;
let tag = "";

// clocks

const two = (n) => String(n).padStart(2, "0");
function left(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const m = Math.floor(s / 60);
  return m < 60 ? `${m}:${two(s % 60)}` : `${Math.floor(m / 60)}:${two(m % 60)}:${two(s % 60)}`;
}
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
function tick() {
  for (const e of all("[data-deadline]")) {
    const rest = Date.parse(e.dataset.deadline) - now();
    put(e, rest > 0 ? left(rest) : "over");
    e.classList.toggle("soon", rest < 60000);
  }
  for (const e of all(".card:has([data-deadline]) .bar")) {
    const card = e.closest(".card");
    const from = Date.parse(one("time", card).dateTime), to = Date.parse(one("[data-deadline]", card).dataset.deadline);
    const part = Math.min(100, Math.max(0, (100 * (to - now())) / (to - from)));
    one("rect", e).setAttribute("width", part.toFixed(1));
    e.classList.toggle("soon", to - now() < 60000);
  }
  words();
}

// the state of the stream, in words: loaded, live, lost, or out for who is
// signed out

let state = "loaded";
function age(ms) {
  const s = Math.round(ms / 1000);
  return s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min` : `${Math.floor(s / 3600)} h`;
}
function words() {
  const e = one("#live");
  if (!e || state === "loaded") return;
  e.dataset.state = state;
  const text = {
    live: changedAt ? `Live, last change ${age(Date.now() - changedAt)} ago` : "Live",
    lost: `Reconnecting. This page is ${age(Date.now() - wellAt)} old`,
    out: "Signed out, or not for you. Reload the page",
  };
  put(one(".words", e), text[state]);
}
function become(next) {
  if (state !== next && next === "lost") say("The live connection is lost. Reconnecting. Pages still work.");
  if (state !== next && next === "out") say("You are signed out, or your role has changed. Reload the page.");
  state = next;
  words();
}

// announcements, at most one in five seconds

let waiting = "", last = -5000;
function say(text) {
  waiting = text;
  const wait = Math.max(0, last + 5000 - performance.now());
  setTimeout(() => {
    if (!waiting) return;
    put(one("#said"), waiting);
    waiting = "";
    last = performance.now();
  }, wait);
}
