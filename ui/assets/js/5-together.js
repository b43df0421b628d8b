// the calls that are decided together
//
// What happens to one of them elsewhere is said in its own row, in a line that is
// there from the beginning: nothing moves. It is then no longer chosen.

const together = all(".picks > [data-request]");
let togetherVisit = 0;
const togetherDue = new Set(); // rows to look at

async function refreshTogether() {
  togetherVisit = 0;
  if (document.hidden) return; // it looks when it is shown
  for (const row of togetherDue) {
    const answer = await fetch(`/requests/${encodeURIComponent(row.dataset.request)}/state`);
    togetherDue.delete(row);
    if (!answer.ok) continue;
    settleTogether(row, one("[data-digest]", new DOMParser().parseFromString(await answer.text(), "text/html")));
  }
}
function settleTogether(row, state) {
  const box = one("input[name=item]", row);
  const ended = state?.dataset.ended === "yes";
  if (!state || box.disabled || (!ended && state.dataset.digest === row.dataset.version)) return;
  box.checked = false;
  box.disabled = true;
  const words = ended ? one("span:not(.chip)", state).textContent : "A reviewer has changed its arguments since. It is decided on its own page.";
  const line = one(".fate", row);
  line.replaceChildren(one(".chip", state), ` ${words}`);
  line.title = words;
  // Its clock stops, and keeps its room.
  for (const e of all("[data-deadline]", row)) delete e.dataset.deadline;
  say(`${one("label b", row).textContent}: ${words}`);
  if (together.every((r) => one("input[name=item]", r).disabled)) {
    for (const b of all(".together-form button[name=verdict]")) b.disabled = true;
  }
}
if (together.length) {
  document.addEventListener("countersign", ({ detail }) => {
    for (const row of together) {
      if (detail.kind === "reset" || detail.request === row.dataset.request) togetherDue.add(row);
    }
    if (togetherDue.size) togetherVisit ||= setTimeout(() => refreshTogether().catch(() => {}), 60 + Math.random() * 140);
  });
}
