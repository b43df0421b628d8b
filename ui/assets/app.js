// Keeps a page fresh without moving anything that somebody reads or types: the
// server says that something is new, the page fetches it with its own rights,
// new cards come below the others, and what has ended is marked where it is.
"use strict";
(() => {
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
    for (const e of all("svg[data-to]")) {
      const from = Date.parse(e.dataset.from), to = Date.parse(e.dataset.to);
      const part = Math.min(100, Math.max(0, (100 * (to - now())) / (to - from)));
      one("rect", e).setAttribute("width", part.toFixed(1));
      e.classList.toggle("soon", to - now() < 60000);
    }
    if (state === "live") words();
  }

  // the state of the stream, in words

  let state = "loaded";
  function words() {
    const e = one("#live");
    if (!e) return;
    e.dataset.state = state;
    let text = state === "lost" ? "Reconnecting…" : "Live";
    if (state === "live" && changedAt) {
      const s = Math.round((Date.now() - changedAt) / 1000);
      text += s < 60 ? `, last change ${s} s ago` : `, last change ${Math.floor(s / 60)} min ago`;
    }
    put(one(".words", e), text);
  }
  function become(next) {
    if (state !== "lost" && next === "lost") say("The live connection is lost. Reconnecting. Pages still work.");
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

  // the queue

  const queue = one("#queue");
  let fresh = []; // ids of cards that came since the page was loaded
  async function refreshQueue() {
    if (!queue) return;
    const path = `/inbox/queue?current=${encodeURIComponent(queue.dataset.current)}`;
    const answer = await fetch(path, { headers: tag ? { "If-None-Match": tag } : {} });
    if (answer.status === 401) return location.reload();
    if (!answer.ok) return;
    tag = answer.headers.get("ETag") || "";
    merge(one(".list", new DOMParser().parseFromString(await answer.text(), "text/html")));
  }
  function merge(next) {
    if (!next) return;
    const list = one(".list", queue);
    const cards = all(".card", list);
    if (cards.length === 0) {
      if (one(".card", next) || !one(".idle", list)) {
        list.replaceWith(next);
        const n = all(".card", next).length;
        if (n) say(n === 1 ? "1 new request waits." : `${n} new requests wait.`);
      }
      return;
    }
    const there = new Map(all(".card", next).map((c) => [c.id, c]));
    for (const c of cards) {
      const gone = !there.has(c.id);
      c.classList.toggle("ended", gone);
      if (gone && !one(".over", c)) one(".meta", c).insertAdjacentHTML("afterbegin", '<b class="over">no longer waits</b> · ');
      there.delete(c.id);
    }
    for (const c of there.values()) {
      cards.at(-1).parentElement.insertBefore(c, all(".card", list).at(-1).nextSibling);
      fresh.push(c.id);
    }
    one(".tabs .num", list).textContent = next.dataset.total;
    if (there.size) announce(list);
  }
  function announce(list) {
    let button = one(".new", list);
    if (!button) {
      button = document.createElement("button");
      button.className = "new";
      button.type = "button";
      button.addEventListener("click", () => {
        const card = document.getElementById(fresh[0]);
        fresh = [];
        button.remove();
        card?.focus();
        card?.scrollIntoView({ block: "nearest" });
      });
      one(".tabs", list).append(button);
    }
    button.textContent = `${fresh.length} new, show`;
    say(fresh.length === 1 ? "1 new request waits." : `${fresh.length} new requests wait.`);
  }

  // the request that is open

  const request = one("#request");
  async function refreshRequest() {
    const note = one("#moved");
    if (!request || !note || request.dataset.pending !== "yes") return;
    const answer = await fetch(`/requests/${encodeURIComponent(request.dataset.request)}/state`);
    if (!answer.ok) return;
    const line = one("[data-digest]", new DOMParser().parseFromString(await answer.text(), "text/html"));
    const digest = one("input[name=digest]", request)?.value;
    if (!line || (line.dataset.ended !== "yes" && line.dataset.digest === digest)) return;
    note.replaceChildren(line);
    note.hidden = false;
    request.dataset.pending = "no";
    for (const b of all("[data-decide] button")) b.disabled = true;
  }

  // from the server

  let timer = 0;
  function heard(message) {
    become("live");
    if (message.seq === seq) return;
    seq = message.seq;
    changedAt = Date.now();
    const count = one("#pending");
    if (count) {
      count.firstChild.textContent = message.pending;
      count.hidden = message.pending === 0;
    }
    document.title = document.title.replace(/^\(\S+\) /, "");
    if (message.pending) document.title = `(${message.pending}) ${document.title}`;
    // A few changes close together are one visit.
    timer ||= setTimeout(() => {
      timer = 0;
      Promise.all([refreshQueue(), refreshRequest()]).catch(() => become("lost"));
    }, 60 + Math.random() * 140);
  }

  // One connection for all tabs: browsers open six to a server, and no more.
  const channel = new BroadcastChannel("countersign-live");
  channel.onmessage = (e) => (e.data === "lost" ? become("lost") : heard(e.data));
  let pause = 1000;
  function connect() {
    const source = new EventSource("/live");
    source.onopen = () => {
      pause = 1000;
      become("live");
    };
    source.onmessage = (e) => {
      const message = JSON.parse(e.data);
      heard(message);
      channel.postMessage(message);
    };
    source.onerror = () => {
      become("lost");
      channel.postMessage("lost");
      if (source.readyState !== EventSource.CLOSED) return; // it tries again by itself
      setTimeout(connect, pause + Math.random() * 500);
      pause = Math.min(2 * pause, 30000);
    };
  }
  if (navigator.locks) {
    navigator.locks.request("countersign-live", () => new Promise(connect));
  } else {
    connect();
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) Promise.all([refreshQueue(), refreshRequest()]).catch(() => become("lost"));
  });

  // forms

  one("[data-change]")?.addEventListener("click", (e) => {
    e.preventDefault();
    one("#change").open = true;
    one("#change").scrollIntoView({ block: "nearest" });
    one("#arguments").focus();
  });
  for (const form of all("[data-decide]")) {
    // Posted once: the buttons wait for the answer.
    form.addEventListener("submit", () => setTimeout(() => all("button", form).forEach((b) => (b.disabled = true)), 0));
  }
  addEventListener("pageshow", (e) => {
    if (e.persisted) location.reload();
  });

  tick();
  setInterval(tick, 1000);
})();
