// A session that is under way: its head and the rows of its timeline are made
// fresh where they are. New calls wait below until somebody asks for them.

let fetchingSession = false;
let changedWhile = false; // something changed while it was fetched
async function refreshSession() {
  const top = one("#session[data-live]");
  const lanes = one("#timeline");
  changedWhile = fetchingSession;
  if (!top || !lanes || fetchingSession) return;
  fetchingSession = true;
  try {
    const answer = await fetch(top.dataset.live, { headers: { Accept: "text/html" } });
    if (answer.ok) freshenSession(top, lanes, new DOMParser().parseFromString(await answer.text(), "text/html"));
  } finally {
    fetchingSession = false;
    if (changedWhile) refreshSession().catch(() => {});
  }
}
// freshenPart puts what another element holds into one, unless somebody is in it or
// nothing is new.
function freshenPart(element, other) {
  if (element.innerHTML === other.innerHTML || element.contains(document.activeElement)) return;
  element.replaceChildren(...other.childNodes);
}
function freshenSession(top, lanes, page) {
  const newTop = one("#session", page), newLanes = one("#timeline", page);
  if (!newTop || !newLanes) return;
  if (!newTop.dataset.live) delete top.dataset.live; // it has ended
  freshenPart(top, newTop);
  const table = one("tbody", lanes), fresh = one("tbody", newLanes);
  if (!table || !fresh) {
    freshenPart(lanes, newLanes);
    return;
  }
  freshenPart(one(".axis", lanes), one(".axis", newLanes));
  const rows = new Map(all("tr", table).map((row) => [row.dataset.key, row]));
  const arrived = [];
  for (const row of all("tr", fresh)) {
    const old = rows.get(row.dataset.key);
    if (old) {
      [...old.children].forEach((cell, i) => freshenPart(cell, row.children[i]));
    } else {
      arrived.push(row);
    }
  }
  offerCalls(lanes, table, arrived);
}
// offerCalls says how many calls are new; they come when somebody asks.
function offerCalls(lanes, table, rows) {
  let button = one(".new", lanes);
  if (!rows.length) return;
  if (!button) {
    button = document.createElement("button");
    button.className = "new";
    button.type = "button";
    one("h3", lanes).append(button);
  }
  put(button, `${rows.length} new, show`);
  button.onclick = () => {
    table.append(...rows);
    button.remove();
  };
}
let sessionVisit = 0;
document.addEventListener("countersign", ({ detail }) => {
  const top = one("#session[data-live]");
  if (!top || document.hidden) return;
  const ours = detail.session && detail.session === new URL(top.dataset.live, location).searchParams.get("id");
  if (!ours && detail.kind !== "reset") return;
  // What fails is tried again with the next change: the line says whether it is well.
  sessionVisit ||= setTimeout(() => {
    sessionVisit = 0;
    refreshSession().catch(() => {});
  }, 150 + Math.random() * 200);
});
