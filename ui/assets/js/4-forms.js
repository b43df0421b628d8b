// forms

one("a[data-change]")?.addEventListener("click", (e) => {
  e.preventDefault();
  one("#change").open = true;
  one("#change").scrollIntoView({ block: "nearest" });
  one("#change textarea:not([hidden])").focus();
});
for (const form of all("[data-decide]")) {
  // Posted once: the buttons wait for the answer.
  form.addEventListener("submit", () => setTimeout(() => all("button", form).forEach((b) => (b.disabled = true)), 0));
}
addEventListener("pageshow", (e) => {
  if (e.persisted) location.reload();
});

// What the model is told, with the comment that is being typed.
{
  const told = one("#told");
  const comment = one(".decide input[name=comment]");
  const plain = told?.textContent;
  // What nobody would see is written as an escape, as the server does.
  const seen = (text) =>
    text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => `\u27e6U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e7`);
  const show = () => {
    const text = comment.value.trim();
    put(told, text ? told.dataset.before + seen(text) + told.dataset.after : plain);
  };
  if (told && comment) {
    comment.addEventListener("input", show);
    show();
  }
}
