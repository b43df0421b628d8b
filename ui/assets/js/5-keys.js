// Shortcuts: single letters (WCAG 2.1.4: they can be switched off). None acts in
// a field, on auto-repeat, with a modifier, or while a dialog is open; to approve
// takes two strokes.
{
  const keysOn = () => localStorage.getItem("countersign-keys") !== "off";
  function keysShow() {
    body.dataset.keys = keysOn() ? "on" : "off";
    for (const b of all("[data-keys-switch]")) {
      b.hidden = false;
      put(b, keysOn() ? "Switch shortcuts off" : "Switch shortcuts on");
    }
  }
  function keysSwitch() {
    localStorage.setItem("countersign-keys", keysOn() ? "off" : "on");
    keysShow();
    say(keysOn() ? "Shortcuts are on." : "Shortcuts are off.");
  }
  const comment = one(".decide input[name=comment]");
  const places = { i: "/inbox", h: "/history", s: "/sessions", t: "/tools", n: "/insights", a: "/access", y: "/system" };
  let chord = 0; // when g was pressed
  let armed = false; // the comment is one for a decline

  // card is the one that has the focus, or that is open.
  const cards = () => all(".card", queue || body);
  function card() {
    return document.activeElement.closest?.(".slot")?.querySelector(".card") || one(".card[aria-current]");
  }
  function step(by) {
    const list = cards();
    const at = list.indexOf(card());
    const to = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + by))];
    to?.focus();
    to?.scrollIntoView({ block: "nearest" });
  }
  const acts = {
    j: () => step(1),
    k: () => step(-1),
    u: () => {
      const list = one("#queue");
      if (list && list.offsetParent !== null) card()?.focus();
      else location.assign("/inbox");
    },
    x: () => card()?.closest(".slot")?.querySelector("input[name=id]")?.click(),
    a: () => {
      const button = one(".decide [data-key=a]");
      if (!button || button.disabled || button.offsetParent === null) return;
      if (document.activeElement === button) return button.click();
      button.focus();
      say("Press a again, or Enter, to approve exactly this.");
    },
    e: () => one(".decide [data-key=e]")?.click(),
    d: () => {
      const button = one(".decide [data-key=d]");
      if (!comment || !button || button.disabled) return;
      armed = true;
      comment.focus();
      say("Write why. Enter leads to Decline, Enter again declines.");
    },
    "/": () => one("input[type=search], [role=search] input, input[name=q]")?.focus(),
    "?": () => help(),
  };
  comment?.addEventListener("blur", () => (armed = false));
  comment?.addEventListener("keydown", (e) => {
    if (e.key === "Escape") return comment.blur();
    if (e.key !== "Enter" || !armed || e.isComposing) return;
    e.preventDefault();
    one(".decide [data-key=d]").focus();
  });
  function inField(e) {
    const t = e.target;
    return t.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) && !/^(checkbox|radio|button|submit)$/.test(t.type);
  }
  document.addEventListener("keydown", (e) => {
    if (!keysOn() || e.repeat || e.ctrlKey || e.altKey || e.metaKey || e.isComposing || e.defaultPrevented) return;
    if (inField(e) || one("dialog[open]")) return;
    const follows = chord && performance.now() - chord < 1500;
    chord = 0;
    if (follows && places[e.key]) {
      e.preventDefault();
      const link = one(`.rail a[href="${places[e.key]}"]`);
      return link && location.assign(link.href);
    }
    if (e.key === "g") return (chord = performance.now());
    if (!Object.hasOwn(acts, e.key)) return;
    e.preventDefault();
    acts[e.key]();
  });

  // the page about shortcuts, as a dialog

  async function help() {
    let dialog = one("#help");
    if (!dialog) {
      const answer = await fetch("/keys");
      const list = answer.ok && one("#keys", new DOMParser().parseFromString(await answer.text(), "text/html"));
      if (!list) return location.assign("/keys");
      dialog = document.createElement("dialog");
      dialog.id = "help";
      dialog.setAttribute("aria-label", "Shortcuts");
      const close = document.createElement("button");
      close.className = "btn";
      close.textContent = "Close";
      close.addEventListener("click", () => dialog.close());
      dialog.append(list, close);
      body.append(dialog);
      keysListen(dialog);
      keysShow();
    }
    if (!dialog.open) dialog.showModal();
  }
  function keysListen(from) {
    for (const b of all("[data-keys-switch]", from)) b.addEventListener("click", keysSwitch);
  }
  keysListen(document);
  keysShow();
}
