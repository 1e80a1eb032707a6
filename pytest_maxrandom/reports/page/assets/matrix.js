// Prompts x examples, a cell for each answer: on a canvas, since there may be a million of them.

// What an answer counts: its score, or 1 where it is right; null where it was not asked.
const worth = (cells, row, column) => (cells.rows[row][column] === "-" ? null : cells.grades ? cells.grades[row][column] : Number(cells.rows[row][column]));
const total = (cells, row) => (cells.grades ? cells.grades[row].reduce((sum, value) => sum + (value || 0), 0) : cells.rows[row].split("1").length - 1);

function matrix(cells, toAnswer) {
  const rights = cells.rows.map((_, row) => total(cells, row));
  const asked = cells.rows.map((row) => row.length - (row.split("-").length - 1));
  const rank = cells.rows.map((_, row) => row).sort((one, other) => rights[other] / asked[other] - rights[one] / asked[one] || one - other);
  const byOrder = cells.examples.map((_, column) => column);
  const solved = byOrder.map((column) => cells.rows.reduce((sum, _, row) => sum + (worth(cells, row, column) || 0), 0));
  const byEase = [...byOrder].sort((one, other) => solved[other] - solved[one] || one - other);
  let rows = rank, columns = byEase, at = null, size = 4;

  const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": `${cells.rows.length} prompts (rows, the best on top) by ${cells.examples.length} examples (columns). Move with the arrow keys.` });
  const about = el("div", { "aria-live": "polite" }, soft("Point at a cell, or move with the arrow keys."));

  function draw() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const room = canvas.parentElement.clientWidth || 800;
    size = Math.min(16, Math.max(3, Math.floor(room / columns.length)));
    const gap = size > 5 ? 1 : 0;
    canvas.width = columns.length * size;
    canvas.height = rows.length * size;
    const pen = canvas.getContext("2d");
    const fills = { 1: colour("--right"), 0: colour("--wrong") };
    pen.fillStyle = colour("--unasked");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    rows.forEach((row, y) => columns.forEach((column, x) => {
      const cell = cells.rows[row][column];
      if (cell === "-") return;
      pen.fillStyle = fills[cell];
      // A wrong one is smaller as well, where there is room, so that colour is not all that tells.
      const inset = cell === "0" && size > 7 ? Math.floor(size / 4) : 0;
      pen.fillRect(x * size + inset, y * size + inset, size - gap - 2 * inset, size - gap - 2 * inset);
      if (cells.grades && cell === "0") {
        // A score between is filled from below.
        const high = Math.round((size - gap) * worth(cells, row, column));
        pen.fillStyle = fills[1];
        pen.fillRect(x * size, y * size + size - gap - high, size - gap, high);
      }
    }));
    if (at) {
      pen.strokeStyle = colour("--text");
      pen.lineWidth = 1;
      pen.strokeRect(0.5, at.y * size + 0.5, canvas.width - 1, size - 1);
      pen.strokeRect(at.x * size + 0.5, 0.5, size - 1, canvas.height - 1);
    }
  }

  function choose(x, y) {
    at = { x: Math.min(columns.length - 1, Math.max(0, x)), y: Math.min(rows.length - 1, Math.max(0, y)) };
    const row = rows[at.y], column = columns[at.x], cell = cells.rows[row][column];
    const facts = [
      ["answer", cells.grades && cell !== "-" ? `score ${score(worth(cells, row, column))}` : { 1: "right", 0: "wrong", "-": "not asked" }[cell]],
      ["example", code(cells.examples[column])],
      cells.grades ? ["mean of all prompts", score(solved[column] / cells.rows.filter((each) => each[column] !== "-").length)] : ["right for", `${solved[column]} of ${rows.length} prompts`],
      ["prompt", code(cells.prompts[row])],
      ["rank", `${rank.indexOf(row) + 1} of ${rows.length}`],
      cells.grades ? ["its mean score", score(rights[row] / asked[row])] : ["its accuracy", `${score(rights[row] / asked[row])} (${rights[row]}/${asked[row]})`],
    ];
    if (cells.demonstrations[row] && cells.demonstrations[row].length) facts.push(["shows", el("span", {}, cells.demonstrations[row].flatMap((id) => [code(id), " "]))]);
    about.replaceChildren(el("dl", {}, facts.flatMap(([title, text]) => [el("dt", {}, title), el("dd", {}, text)])),
      row === cells.best && cell !== "-" ? button("Show this answer", () => toAnswer(column)) : "");
    draw();
  }

  // Scrolls as far as the chosen cell needs.
  function show() {
    const box = canvas.parentElement;
    const within = (from, room, to) => Math.min(Math.max(from, to + size - room), to);
    box.scrollTo(within(box.scrollLeft, box.clientWidth, at.x * size), within(box.scrollTop, box.clientHeight, at.y * size));
  }

  const place = (event) => { const box = canvas.getBoundingClientRect(); return [Math.floor((event.clientX - box.left) / size), Math.floor((event.clientY - box.top) / size)]; };
  canvas.addEventListener("click", (event) => choose(...place(event)));
  canvas.addEventListener("mousemove", (event) => { if (event.buttons === 0 && !("ontouchstart" in window)) choose(...place(event)); });
  canvas.addEventListener("keydown", (event) => {
    const far = columns.length;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-far, 0], End: [far, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    choose((at ? at.x : -1) + step[0], (at ? at.y : 0) + step[1]);
    show();
  });
  const order = el("select", { "aria-label": "Order of the examples", on: { change: (event) => { columns = event.target.value === "ease" ? byEase : byOrder; at = null; draw(); } } },
    el("option", { value: "ease" }, "examples: most often right first"), el("option", { value: "order" }, "examples: as they were asked"));
  const key = el("p", { class: "soft" }, ...(cells.grades ? [["right", "1"], ["wrong", "0"], ["unasked", "not asked"]] : [["right", "right"], ["wrong", "wrong"], ["unasked", "not asked"]]).flatMap(([style, word]) => [el("span", { class: `swatch ${style}` }), `${word}  `]));
  const made = el("div", {}, el("div", { class: "bar" }, order, el("span", { class: "space" }), key),
    el("div", { class: "matrix" }, el("div", { class: "canvas" }, canvas), el("aside", {}, about)));
  new ResizeObserver(draw).observe(made);
  document.addEventListener("themechange", draw);
  return made;
}
