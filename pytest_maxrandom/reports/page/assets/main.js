// One place decides what is shown: the part of the address after #.

const overview = document.getElementById("overview"), panel = document.getElementById("claim");
let index = [], table = null, current = null, drawn = 0, scrolled = 0;

function theme() {
  const dark = () => { const set = document.documentElement.dataset.theme; return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; };
  const label = () => (dark() ? "Light" : "Dark");
  const toggle = button(label(), () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    toggle.textContent = label();
    document.dispatchEvent(new Event("themechange"));
  }, { title: "Light or dark" });
  document.querySelector(".top").append(toggle);
}

// Opens a claim, or another part of the one that is open.
async function open(number, name) {
  const claim = current && current.number === number ? current.claim : await inflated(`claim-${number}`);
  if (!claim) return false;
  if (!current) scrolled = scrollY;
  const views = VIEWS.filter(([, , has]) => has(claim));
  const view = views.find(([key]) => key === name) || views[0];
  const turn = (drawn += 1);
  current = { number, claim, name: view[0] };
  const order = table ? table.order() : [];
  const place = order.indexOf(number);
  const go = (step) => { const next = order[place + step]; return next === undefined ? null : () => { location.hash = `claim-${next}/${view[0]}`; }; };
  current.go = go;
  const step = (text, by, title) => button(text, go(by) || (() => {}), { title, disabled: !go(by) });
  const row = document.querySelector(`#claims tr[data-claim="${number}"] .mark`);
  const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the claim" }, views.map(([key, title]) => button(title, () => { location.hash = `claim-${number}/${key}`; }, {
    role: "tab", id: `tab-${key}`, "aria-selected": String(key === view[0]), "aria-controls": "part", tabindex: key === view[0] ? 0 : -1,
  })));
  tabs.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = views[(views.indexOf(view) + by + views.length) % views.length][0];
    current.focus = `tab-${next}`;
    location.hash = `claim-${number}/${next}`;
  });
  const part = el("div", { id: "part", role: "tabpanel", "aria-labelledby": `tab-${view[0]}`, tabindex: -1 });
  const focus = document.activeElement && document.activeElement.id;
  panel.replaceChildren(
    el("div", { class: "bar" }, button("← All claims", home), el("span", { class: "space" }), el("span", { class: "soft hint" }, el("kbd", {}, "Esc"), " all claims ", el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " next, previous"), step("↑", -1, "Previous claim"), step("↓", 1, "Next claim")),
    el("h2", { tabindex: -1, id: "claim-name" }, row ? el("span", { class: "soft" }, `${row.textContent} `) : "", visible(claim.name)),
    el("p", {}, sentence(claim.why)),
    el("dl", { class: "numbers" }, claim.numbers.map(([title, value]) => el("div", {}, el("dt", {}, title), el("dd", {}, value)))),
    tabs, part);
  overview.hidden = true;
  panel.hidden = false;
  const children = await view[3](claim, async (key) => { history_.quiet = true; location.hash = `claim-${number}/${key}`; await open(number, key); });
  if (turn !== drawn) return true;
  part.replaceChildren(...children.filter((child) => child !== ""));
  const refocus = focus && focus.startsWith("tab-") && document.getElementById(`tab-${view[0]}`);
  if (refocus) refocus.focus();
  return true;
}

const history_ = { quiet: false };

function home() {
  location.hash = "";
}

function close() {
  drawn += 1;
  const row = current && document.querySelector(`#claims tr[data-claim="${current.number}"] a`);
  current = null;
  panel.hidden = true;
  panel.replaceChildren();
  overview.hidden = false;
  scrollTo(0, scrolled);
  if (row) row.focus({ preventScroll: true });
}

async function route() {
  if (history_.quiet) { history_.quiet = false; return; }
  const [, number, name] = location.hash.match(/^#claim-(\d+)(?:\/(\w+))?$/) || [];
  const before = current && current.number;
  if (number === undefined || !(await open(Number(number), name))) close();
  else if (before !== Number(number)) { scrollTo(0, 0); document.getElementById("claim-name").focus({ preventScroll: true }); }
}

function keys(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    else if (current) home();
    return;
  }
  if (typing || !table) return;
  if (event.key === "/" && !current) { event.preventDefault(); table.search.focus(); }
  const by = { j: 1, k: -1 }[event.key];
  if (!by) return;
  if (current) { const go = current.go(by); if (go) go(); return; }
  const links = table.shown().map((row) => row.querySelector("a"));
  const next = links[links.indexOf(document.activeElement) + by] || (by > 0 ? links[0] : links.at(-1));
  if (next) next.focus();
}

async function start() {
  theme();
  index = (await inflated("index")) || [];
  document.querySelectorAll("#claims tbody tr").forEach((row, place) => { row.dataset.claim = place; });
  table = claimsTable(index);
  document.querySelectorAll("#overview table").forEach(sortable);
  addEventListener("hashchange", route);
  addEventListener("keydown", keys);
  if (location.hash) await route();
  else if (document.documentElement.dataset.opened) await open(0);
  document.documentElement.dataset.ready = "yes";
}

start();
