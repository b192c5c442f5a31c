/* Countersign's only script. Pages work without it; it adds keys, copy buttons, live counts and what was on screen. */
(() => {
  "use strict";
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  /* What only makes sense with scripts is hidden until they run. */
  $$("[data-scripted], .keys").forEach((element) => { element.hidden = false; });
  $$("kbd[hidden]").forEach((element) => { element.hidden = false; });

  /* Copy buttons: the full text, as it stands. */
  const copyButton = (text, what) => {
    const button = make("button", { type: "button", className: "copy" }, "Copy", make("span", { className: "vh" }, ` ${what}`));
    const say = make("span", { className: "vh" });
    say.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text());
        say.textContent = "Copied";
        button.firstChild.data = "Copied";
        setTimeout(() => { button.firstChild.data = "Copy"; say.textContent = ""; }, 2000);
      } catch {
        say.textContent = "The browser did not allow copying. Select the text instead.";
      }
    });
    return [button, say];
  };
  $$(".cmd > code").forEach((code) => code.after(...copyButton(() => code.textContent, "the command")));
  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (!(details instanceof HTMLElement) || !details.matches("details.dg[open]") || $("button", details)) return;
    const code = $("code", details);
    code.after(...copyButton(() => code.textContent, "the full digest"));
  }, true);

  /* Which changes were on screen. The box opens when all were; the server asks for it either way. */
  const box = $("[data-read]");
  if (box) {
    const tree = $(".tree");
    let places = $$(".tree > li[id]");
    if (tree && !places.length) places = [tree.lastElementChild];
    if (places.length && "IntersectionObserver" in window) {
      const said = $("[data-seen]");
      const seen = new Set();
      let open = false;
      box.addEventListener("click", (event) => { if (!open) event.preventDefault(); });
      const tell = () => {
        const all = seen.size === places.length;
        said.hidden = false;
        said.textContent = places.length > 1 ? `${seen.size} of ${places.length} were on screen` : (all ? "its end was on screen" : "its end wasn’t on screen yet");
        open = all || box.checked;
        box.setAttribute("aria-disabled", String(!open));
      };
      const observer = new IntersectionObserver((entries) => {
        entries.filter((entry) => entry.isIntersecting).forEach((entry) => { seen.add(entry.target); observer.unobserve(entry.target); });
        tell();
      }, { rootMargin: "-8px" });
      places.forEach((place) => observer.observe(place));
      tell();
    }
  }
  /* Beginnings of a reason: fill the field, leave the cursor at the end. */
  $$(".tpl a[href^='#reason=']").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    const field = $("textarea[name=reason]", link.closest("form"));
    field.value = decodeURIComponent(link.getAttribute("href").slice("#reason=".length));
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }));

  /* With scripts the reading step is watched here, so lists lead to the page that has the panel. */
  $$("a[data-open][href^='/candidates/']").forEach((link) => {
    const url = new URL(link.href);
    url.searchParams.set("step", "decide");
    link.href = url.href;
  });

  /* Live counts: digits change in place, rows never move, and nothing is announced more often than every half minute. */
  const live = $$("[data-live]");
  const fresh = $("[data-fresh]");
  if (live.length) {
    let before = null;
    let told = 0;
    if (fresh) fresh.setAttribute("role", "status");
    const number = new Intl.NumberFormat("en");
    const look = async () => {
      if (document.hidden) return;
      try {
        const response = await fetch("/counts", { headers: { accept: "application/json" } });
        if (!response.ok) return;
        const counts = await response.json();
        live.forEach((element) => { if (element.dataset.live in counts) element.textContent = number.format(counts[element.dataset.live]); });
        const now = Date.now();
        if (fresh && before !== null && counts.waiting > before && now - told > 30000) {
          told = now;
          const more = counts.waiting - before;
          fresh.hidden = false;
          fresh.replaceChildren(` ${more} more since. `, make("a", { href: location.href }, "Show them"));
        }
        if (before === null) before = counts.waiting;
      } catch { /* The next look may do better; what the page says stays right as of its own time. */ }
    };
    look();
    setInterval(look, 15000);
  }

  /* Keys. They move the focus and follow links; they never press a button. */
  const store = { get: () => { try { return localStorage.getItem("keys") !== "off"; } catch { return true; } },
                  set: (on) => { try { localStorage.setItem("keys", on ? "on" : "off"); } catch { /* for this page only */ } } };
  let on = store.get();
  const keySwitch = $("[data-keys-switch]");
  if (keySwitch) {
    keySwitch.checked = on;
    keySwitch.addEventListener("change", () => { on = keySwitch.checked; store.set(on); });
  }
  const step = (elements, by) => {
    if (!elements.length) return;
    const at = elements.findIndex((element) => element === document.activeElement || element.contains(document.activeElement));
    const next = elements[at < 0 ? (by > 0 ? 0 : elements.length - 1) : Math.min(Math.max(at + by, 0), elements.length - 1)];
    if (!next.matches("a, button, input, textarea, [tabindex]")) next.tabIndex = -1;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "center" });
  };
  const follow = (selector) => { const link = $(selector); if (link) link.click(); return Boolean(link); };
  const keys = {
    j: ["next row, next candidate", () => follow("a[data-key=j]") || step($$("[data-row] a[data-open]"), 1)],
    k: ["previous row, previous candidate", () => follow("a[data-key=k]") || step($$("[data-row] a[data-open]"), -1)],
    n: ["next change", () => step($$(".tree > li[id]"), 1)],
    f: ["next finding", () => step($$("article.fi"), 1)],
    d: ["the decision", () => { const panel = $("#decision"); if (panel) { panel.scrollIntoView(); (($("textarea", panel) || panel)).focus(); } }],
    a: ["to the approving button", () => { const button = $("button[data-key=a]"); if (button) button.focus(); }],
    r: ["to the rejecting button", () => { const button = $("button[data-key=r]"); if (button) button.focus(); }],
    "/": ["search", () => { const field = $("[data-search]"); if (field) { field.focus(); field.select(); } }],
  };
  const places = { q: ["/queue", "queue"], d: ["/", "dashboard"], p: ["/pinsets", "pin sets"], s: ["/servers", "servers"], c: ["/check", "check"], l: ["/log", "log"] };
  let dialog = null;
  const help = () => {
    if (!dialog) {
      const row = (key, what) => [make("dt", {}, ...key.split(" ").map((part) => make("kbd", {}, part))), make("dd", {}, what)];
      const list = make("dl", { className: "dl" });
      Object.entries(keys).forEach(([key, [what]]) => list.append(...row(key, what)));
      Object.entries(places).forEach(([key, [, what]]) => list.append(...row(`g ${key}`, what)));
      list.append(...row("Enter", "open"), ...row("?", "this list"), ...row("Esc", "close"));
      const close = make("button", { type: "button" }, "Close this list");
      dialog = make("dialog", { className: "keys-list" }, make("h2", { id: "h-all-keys" }, "All keys"), list,
        make("p", { className: "mut" }, "Keys move the focus, they never press a button. They can be switched off under Settings."), close);
      dialog.setAttribute("aria-labelledby", "h-all-keys");
      close.addEventListener("click", () => dialog.close());
      document.body.append(dialog);
    }
    dialog.showModal();
  };
  let going = false;
  document.addEventListener("keydown", (event) => {
    if (!on || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
    if (going && places[event.key]) { event.preventDefault(); location.href = places[event.key][0]; return; }
    going = event.key === "g";
    if (going) { setTimeout(() => { going = false; }, 1500); return; }
    if (event.key === "?") { event.preventDefault(); help(); return; }
    const key = keys[event.key];
    if (key) { event.preventDefault(); key[1](); }
  });
})();
