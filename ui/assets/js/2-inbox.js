// the queue

const queue = one("#queue");
let fresh = []; // ids of cards that came since the page was loaded
async function refreshQueue() {
  if (!queue) return;
  const path = `/inbox/queue?${new URLSearchParams({ current: queue.dataset.current, after: queue.dataset.after })}`;
  const answer = await fetch(path, { headers: tag ? { "If-None-Match": tag } : {} });
  if (answer.status === 401) return location.reload();
  if (!answer.ok) return;
  tag = answer.headers.get("ETag") || "";
  mergeQueue(one(".list", new DOMParser().parseFromString(await answer.text(), "text/html")));
}
function mergeQueue(next) {
  if (!next) return;
  put(one("#waiting"), next.dataset.total);
  const list = one(".list", queue);
  const slots = all(".slot", list);
  if (slots.length === 0) {
    if (one(".slot", next) || !one(".idle", list)) {
      list.replaceWith(next);
      announceNew(all(".slot", next).length);
    }
    return;
  }
  const there = new Map(all(".slot", next).map((s) => [s.id, s]));
  for (const slot of slots) {
    if (!there.delete(slot.id)) endSlot(slot);
  }
  // Below the others, and above what leads further: nothing moves.
  const last = slots.at(-1);
  const more = one("a[rel=next]", list);
  const newer = one("a[rel=next]", next);
  if (more && newer) more.replaceChildren(...newer.childNodes);
  if (!more) {
    for (const slot of [...there.values()].reverse()) {
      last.after(slot);
      fresh.unshift(slot.id);
    }
    if (newer) all(".slot", list).at(-1).after(newer);
  }
  if (there.size && !more) announceNew(fresh.length);
  tidyQueue();
}
// What has ended is marked where it is. It leaves when nobody looks at it.
function endSlot(slot) {
  const card = one(".card", slot);
  if (card.classList.contains("ended")) return;
  card.classList.add("ended");
  const over = document.createElement("b");
  over.className = "over";
  over.textContent = "no longer waits · ";
  one(".meta", card).prepend(over);
  const pick = one("input", slot);
  if (pick) {
    pick.checked = false;
    pick.disabled = true;
  }
  // Its clocks stop, and keep their room.
  for (const e of all("[data-deadline]", card)) delete e.dataset.deadline;
}
// tidyQueue offers to clear up: new cards to look at, ended ones to take away.
function tidyQueue() {
  const list = one(".list", queue);
  const ended = all(".card.ended:not([aria-current])", list).length;
  let button = one(".new", queue);
  if (!fresh.length && !ended) return button?.remove();
  if (!button) {
    button = document.createElement("button");
    button.className = "new";
    button.type = "button";
    button.addEventListener("click", () => {
      const slot = fresh.length && document.getElementById(fresh[0]);
      fresh = [];
      all(".card.ended:not([aria-current])", list).forEach((c) => c.closest(".slot").remove());
      button.remove();
      const card = one(".card", slot || list);
      card?.focus();
      card?.scrollIntoView({ block: "nearest" });
    });
    one("form", queue).after(button); // sticks to the end, where new cards are
  }
  const words = [];
  if (fresh.length) words.push(`${fresh.length} new`);
  if (ended) words.push(`${ended} ended`);
  put(button, words.join(", ") + (fresh.length ? ", show" : ", clear"));
}
function announceNew(n) {
  const total = one("#waiting").textContent;
  if (n) say(`${n === 1 ? "1 new request waits" : `${n} new requests wait`}, ${total} in all.`);
}

// how many are chosen

queue?.addEventListener("change", () => {
  const n = all("input[name=id]:checked", queue).length;
  const button = one(".together button", queue);
  if (button) put(button, n > 1 ? `Decide ${n} together` : "Decide the chosen together");
});

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

// What became of a call that was approved takes the place of what was said of it.
async function refreshOutcome() {
  const line = one("#outcome[data-open]");
  if (!line) return;
  const answer = await fetch(location.pathname);
  if (!answer.ok) return;
  const fresh = one("#outcome", new DOMParser().parseFromString(await answer.text(), "text/html"));
  if (!fresh || fresh.textContent === line.textContent) return;
  line.replaceChildren(...fresh.childNodes);
  if (!fresh.hasAttribute("data-open")) line.removeAttribute("data-open");
}

// Before the time is over somebody who does not see the clock is told.
let warned = false;
setInterval(() => {
  const clock = request?.dataset.pending === "yes" && one(".facts [data-deadline]", request);
  const rest = clock ? Date.parse(clock.dataset.deadline) - now() : 0;
  if (warned || rest <= 0 || rest > 60000) return;
  warned = true;
  say("Less than a minute is left to decide this request.");
}, 1000);
