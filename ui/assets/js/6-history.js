// The first page of a list: rows that it shows are kept as they stand, new ones
// are offered, and put in by themselves only while somebody follows and neither
// reads nor points at the table. What is new is read from the page itself.

const tail = one("[data-tail]");
const tailRows = one("[data-rows]");
const tailKeeps = 200; // rows that a page keeps that is followed for long
let arrived = []; // rows that are not shown yet, the newest first
let arrivedMore = false; // and more behind them
let follows = false;
let tailAt = 0, tailTimer = 0;

function tailTable() {
  return tailRows.closest(".table");
}
function tailBusy() {
  const table = tailTable();
  return table.matches(":hover") || table.contains(document.activeElement) || !getSelection().isCollapsed;
}
async function refreshTail() {
  if (!tail || document.hidden) return;
  const answer = await fetch(tail.dataset.tail);
  if (answer.status === 401) return location.reload();
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  tailSettle(all("[data-rows] tr", page), one("a[rel=next]", page) !== null);
}
// tailSettle takes the newest rows as they are now: all of them, or if the page is
// full, as many as there is room for.
function tailSettle(rows, full) {
  const next = new Map(rows.map((r) => [r.id, r]));
  const there = all("tr", tailRows);
  const last = full ? there.findLastIndex((r) => next.has(r.id)) : there.length;
  there.forEach((row, i) => {
    if (next.has(row.id)) tailFreshen(row, next.get(row.id));
    else if (i < last) tailLeft(row); // of what lies below, nothing is known
  });
  for (const row of there) next.delete(row.id);
  arrived = rows.filter((r) => next.has(r.id));
  arrivedMore = full && last < 0;
  if (follows && !arrivedMore && !tailBusy()) tailShow();
  else tailOffer();
}
// tailLeft marks a call that is not one of this list any more.
function tailLeft(row) {
  if (row.classList.contains("stale")) return;
  row.classList.add("stale");
  row.cells[1].insertAdjacentHTML("beforeend", '<span class="sr">, by now no longer in this list</span>');
}
// tailFreshen brings cells up to date, where nobody's focus is in them. The time
// stays as it is: it says its day where it is the first of it.
function tailFreshen(row, next) {
  row.classList.remove("stale");
  [...row.cells].forEach((cell, i) => {
    const now = next.cells[i];
    if (i > 0 && now && cell.innerHTML !== now.innerHTML && !cell.contains(document.activeElement)) cell.innerHTML = now.innerHTML;
  });
}
function tailOffer() {
  const button = one("[data-show]", tail);
  const n = arrived.length;
  button.hidden = n === 0;
  const words = arrivedMore ? `more than ${n} new, load` : `${n} new, show`;
  if (!n || button.textContent === words) return;
  button.textContent = words;
  const noun = tail.dataset.noun;
  say(n === 1 ? `1 new ${noun}.` : `${arrivedMore ? "More than " : ""}${n} new ${noun}s.`);
}
function tailShow() {
  if (arrivedMore) return location.reload();
  tailTable().hidden = false;
  one("[data-empty]")?.remove();
  for (const r of arrived) r.classList.add("arrived");
  tailRows.prepend(...arrived);
  while (tailRows.rows.length > tailKeeps) tailRows.lastElementChild.remove();
  const first = arrived[0];
  arrived = [];
  tailOffer();
  return first;
}
function tailSoon() {
  if (!tail) return;
  // A burst is one visit, and there is at most one in two seconds.
  const wait = Math.max(150, tailAt + 2000 - performance.now());
  tailTimer ||= setTimeout(() => {
    tailTimer = 0;
    tailAt = performance.now();
    refreshTail().catch(() => {});
  }, wait);
}
if (tail) {
  tail.hidden = false;
  const follow = one("[data-follow]", tail);
  follow.addEventListener("click", () => {
    follows = !follows;
    follow.classList.toggle("on", follows);
    put(follow, follows ? "Pause" : "Follow");
    say(follows ? `New ${tail.dataset.noun}s come in by themselves.` : "Paused.");
    if (follows && arrived.length && !arrivedMore && !tailBusy()) tailShow();
  });
  one("[data-show]", tail).addEventListener("click", () => {
    const first = tailShow();
    one("a", first)?.focus({ preventScroll: true });
  });
  tailTable().addEventListener("mouseleave", () => {
    if (follows && arrived.length && !arrivedMore && !tailBusy()) tailShow();
  });
  document.addEventListener("countersign", tailSoon);
  document.addEventListener("visibilitychange", tailSoon);
}
