// Desktop notices, for whoever asks for them: that a call waits, of which tool and
// agent, and never what is in it. One tab tells, the one that reads the stream, and
// only while nobody looks at it.
{
  const wanted = () => localStorage.getItem("countersign-notify") === "on";
  const may = () => "Notification" in window && Notification.permission === "granted";
  const place = one("#notify");
  const show = () => {
    if (!place || !("Notification" in window)) return;
    place.hidden = false;
    put(one("button", place), wanted() && may() ? "Stop desktop notices" : "Notify me on this desktop");
    put(one(".hint", place), Notification.permission === "denied" ? "This browser refuses notices of this site." : "They name tool and agent, no arguments.");
  };
  place?.addEventListener("click", async (e) => {
    if (!e.target.closest("button")) return;
    const on = !(wanted() && may());
    if (on && !may()) await Notification.requestPermission();
    localStorage.setItem("countersign-notify", on && may() ? "on" : "off");
    show();
  });
  const told = new Set();
  document.addEventListener("countersign", async ({ detail }) => {
    if (detail.type !== "approval_request" || !detail.waits || !reader || told.has(detail.request)) return;
    if (!wanted() || !may() || document.hasFocus()) return;
    told.add(detail.request);
    const path = `/requests/${encodeURIComponent(detail.request)}`;
    const answer = await fetch(`${path}/state`).catch(() => null);
    if (!answer?.ok) return;
    const line = one("[data-digest]", new DOMParser().parseFromString(await answer.text(), "text/html"));
    if (!line || line.dataset.ended === "yes") return;
    const notice = new Notification("A call waits", { body: line.dataset.who, tag: detail.request });
    notice.onclick = () => {
      open(path); // in a tab of its own: what is read in this one stays
      notice.close();
    };
  });
  show();
}
