// Every table can be sorted by its columns.

function sortKey(cell) {
  const line = (cell.firstChild && cell.innerText.split("\n")[0].trim()) || "";
  const number = line.replace(/[,\s\u2060]/g, "").replace("\u2212", "-").match(/^[<>=≤≥]?([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)/);
  return number ? Number(number[1]) : line.toLowerCase();
}

function compared(one, other) {
  if (typeof one === typeof other) return one < other ? -1 : one > other ? 1 : 0;
  return typeof one === "number" ? -1 : 1;
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const sort = () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      const body = table.tBodies[0];
      const keyed = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
      keyed.sort((one, other) => compared(one[0], other[0]) * (falling ? -1 : 1));
      body.append(...keyed.map(([, row]) => row));
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    };
    const inside = el("button", { type: "button", title: "Sort", on: { click: sort } });
    inside.append(...head.childNodes);
    head.append(inside);
  });
  return table;
}

// A table of our own: columns as [heading, is a number, what writes a row].
function tableOf(caption, columns, rows, opens = null) {
  const cell = ([, number, write], row) => el("td", number ? { class: "number" } : {}, write(row));
  const body = rows.map((row) => {
    const made = el("tr", opens ? { class: "opens" } : {}, columns.map((column) => cell(column, row)));
    if (opens) made.addEventListener("click", () => opens(row));
    return made;
  });
  const table = el("table", {},
    el("caption", {}, el("span", {}, caption)),
    el("thead", {}, el("tr", {}, columns.map(([heading, number]) => el("th", { scope: "col", class: number ? "number" : null }, heading)))),
    el("tbody", {}, body));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, sortable(table));
}

// The table of claims: rows open, and can be searched and filtered.
function claimsTable(index) {
  const table = document.querySelector("#claims table");
  if (!table) return null;
  const rows = [...table.tBodies[0].rows];
  const entries = rows.map((row, place) => {
    const name = row.querySelector("th");
    const link = el("a", { href: `#claim-${place}` });
    const parts = [...name.childNodes];
    const lines = parts.findIndex((part) => part.nodeName === "BR");
    link.append(...(lines < 0 ? parts : parts.slice(0, lines)));
    name.prepend(link);
    row.addEventListener("click", (event) => { if (!event.target.closest("a, button")) location.hash = `claim-${place}`; });
    const mark = row.querySelector(".mark");
    return {
      row,
      word: mark ? mark.textContent.trim() : "",
      flagged: index[place].flags.length > 0,
      text: [row.textContent, ...Object.values(index[place])].join(" ").toLowerCase(),
    };
  });
  const chosen = new Set();
  const search = el("input", { type: "search", placeholder: "Search claims ( / )", "aria-label": "Search claims", on: { input: show } });
  const told = el("span", { class: "soft", role: "status" });
  const words = [...new Set(entries.map((entry) => entry.word))];
  const chips = [...words.map((word) => [word, (entry) => entry.word === word]), ["🚩 with red flags", (entry) => entry.flagged]]
    .map(([word, test]) => [word, test, entries.filter(test).length])
    .filter(([, , count]) => count && (count < entries.length || entries.length === 1))
    .map(([word, test, count]) => button(`${word} ${count}`, (event) => {
      const pressed = !chosen.delete(test);
      if (pressed) chosen.add(test);
      event.currentTarget.setAttribute("aria-pressed", pressed);
      show();
    }, { "aria-pressed": "false" }));
  function show() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let seen = 0;
    for (const { row, text, ...entry } of entries) {
      const fits = wanted.every((word) => text.includes(word)) && (!chosen.size || [...chosen].some((test) => test(entry)));
      row.hidden = !fits;
      seen += fits;
    }
    told.textContent = `${seen} of ${entries.length}`;
    document.getElementById("none").hidden = seen > 0;
  }
  show();
  const tools = document.getElementById("tools");
  tools.append(search, ...chips, told);
  tools.hidden = false;
  return { search, shown: () => [...table.tBodies[0].rows].filter((row) => !row.hidden), order: () => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => rows.indexOf(row)) };
}
