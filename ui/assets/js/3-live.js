// from the server
//
// One tab of a browser reads the stream for all of them: browsers open six
// connections to a server, and no more. The lock says which; the others hear of
// everything over the channel, and take over where it goes. Every notice is told
// to the rest of the script as an event of the document, "countersign", whose
// detail is the notice: {seq, kind, session, request, …} of ui/live_frame.go.
// Of kind "reset" it means: load again what you show.

const line = one("#live");
const channel = new BroadcastChannel("countersign-live");
const beat = Number(line?.dataset.beat) || 15000; // of the server, in ms
let place = line?.dataset.place || ""; // how far this tab has heard
let wellAt = Date.now(); // when the line was last known to be well
let reader = null; // the AbortController of this tab's reading, where it reads for all

// what a notice changes at once, in hidden tabs too

function heard(notice) {
  place = notice.place || place;
  if (notice.seq !== seq) changedAt = Date.now();
  seq = notice.seq;
  if (notice.pending !== undefined) waits(notice.pending);
  tell(notice);
}
function waits(n) {
  const count = one("#pending");
  if (count) {
    count.firstChild.textContent = n;
    count.hidden = n === 0;
  }
  document.title = (n ? `(${n}) ` : "") + document.title.replace(/^\([^)]*\) /, "");
  const icon = one("link[rel=icon]");
  icon.dataset.plain ||= icon.getAttribute("href");
  const href = n ? line.dataset.marked : icon.dataset.plain;
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}
function tell(notice) {
  document.dispatchEvent(new CustomEvent("countersign", { detail: notice }));
}

// the queue and the open request

let visit = 0;
function refresh() {
  clearTimeout(visit);
  visit = 0;
  if (document.hidden) return; // it looks when it is shown
  Promise.all([refreshQueue(), refreshRequest(), refreshOutcome()]).catch(() => down("lost", wellAt));
}
document.addEventListener("countersign", ({ detail }) => {
  if (detail.why === "shown") return refresh();
  // A few changes close together are one visit; and not all browsers come in
  // the same moment.
  const open = one("#outcome[data-open]");
  const runs = open && detail.kind === "call" && detail.session === decodeURIComponent(open.dataset.session);
  if (detail.request || runs || detail.kind === "reset") visit ||= setTimeout(refresh, 60 + Math.random() * 140);
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  tell({ seq, kind: "reset", why: "shown" });
  ask();
});

// whether the line is well

function up() {
  wellAt = Date.now();
  become("live");
}
let fell = 0;
function down(why, since) {
  wellAt = since;
  if (why === "out") return become("out");
  fell ||= setTimeout(() => {
    fell = 0;
    if (Date.now() - wellAt > 2900) become("lost");
  }, Math.max(0, wellAt + 3000 - Date.now()));
}

// reading for all

function wait(ms) {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    wake = () => (clearTimeout(timer), done());
  });
}
let wake = () => {};
async function lead() {
  reader = new AbortController();
  const { signal } = reader;
  signal.addEventListener("abort", () => wake());
  for (let pause = 300, first = true; !signal.aborted; first = false) {
    const began = Date.now();
    const status = await read(signal, first).catch(() => 0);
    if (signal.aborted) break;
    const why = status === 401 || status === 403 ? "out" : "lost";
    down(why, wellAt);
    channel.postMessage({ down: why, since: wellAt });
    if (status === 200 && Date.now() - began > 5000) pause = 300;
    await wait(pause * (0.5 + Math.random()));
    pause = Math.min(2 * pause, 20000);
  }
}
// read reads until the line is cut, and returns the status of the answer. What
// comes too late counts as a cut: a network that is gone does not say so.
async function read(signal, first) {
  const cut = new AbortController();
  const stop = () => cut.abort();
  signal.addEventListener("abort", stop);
  let late = setTimeout(stop, 2.5 * beat);
  try {
    const after = first && place ? `?after=${encodeURIComponent(place)}` : "";
    const headers = !first && place ? { "Last-Event-ID": place } : {};
    const answer = await fetch(`/live${after}`, { headers, signal: cut.signal, cache: "no-store" });
    if (!answer.ok) return answer.status;
    const body = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { value, done } = await body.read().catch(() => ({ done: true }));
      if (done) {
        if (!cut.signal.aborted) wellAt = Date.now(); // until a moment ago
        return answer.status;
      }
      clearTimeout(late);
      late = setTimeout(stop, 2.5 * beat);
      up();
      channel.postMessage({ up: true });
      const frames = (rest + value).split("\n\n");
      rest = frames.pop();
      for (const f of frames) take(f);
    }
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", stop);
  }
}
function take(frame) {
  let id = "", data = "";
  for (const l of frame.split("\n")) {
    if (l.startsWith("id: ")) id = l.slice(4);
    if (l.startsWith("data: ")) data = l.slice(6);
  }
  if (!data) return;
  const notice = { ...JSON.parse(data), place: id };
  heard(notice);
  channel.postMessage({ notice });
}

// among the tabs

let answered = 0; // when a tab that reads was last heard
channel.onmessage = ({ data }) => {
  if (data.ask) {
    if (reader && state !== "live") wake(); // somebody looks: try now
    if (reader) channel.postMessage({ here: { seq, place }, up: state === "live", hidden: document.hidden });
    return;
  }
  answered = performance.now();
  if (data.up) up();
  if (data.down) down(data.down, data.since);
  if (data.notice) heard(data.notice);
  if (data.hidden && !document.hidden) apply({ steal: true }); // browsers slow hidden tabs down
  if (data.here && data.here.seq !== seq) {
    // Between this tab's page and its place on the channel something was told.
    if (data.here.seq > seq) place = data.here.place;
    seq = data.here.seq;
    tell({ seq, kind: "reset", why: "joined" });
  }
};
// ask makes sure that some tab reads: one that is hidden, or says nothing, is
// replaced by this one. Who reads on goes on from where it had heard.
function ask() {
  if (reader) return state !== "live" && wake();
  const asked = performance.now();
  channel.postMessage({ ask: true });
  setTimeout(() => {
    if (!reader && answered < asked && !document.hidden) apply({ steal: true });
  }, 1500);
}
let queued = false;
function apply(options) {
  if (queued && !options.steal) return;
  if (!options.steal) queued = true;
  navigator.locks
    .request("countersign-live", options, () => {
      if (!options.steal) queued = false;
      return lead();
    })
    .catch(() => {
      reader?.abort(); // another tab has taken over
      reader = null;
      apply({});
    });
}
if (navigator.locks) {
  apply({});
  ask();
} else {
  lead(); // without TLS on another host than this one: each tab for itself
}
addEventListener("online", () => wake());
addEventListener("pagehide", () => reader?.abort());
