// Drawings are SVG with a title, and what a colour tells a dash or a mark tells too.

const WIDTH = 720;

function framed(height, label, shapes) {
  const drawn = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, role: "img", "aria-label": label }, svg("title", {}, label), shapes);
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Drawing: ${label}` }, drawn);
}

function legend(entries) {
  return el("ul", { class: "legend" }, entries.map(([style, text]) => el("li", {},
    svg("svg", { class: "chart", width: 28, height: 10, viewBox: "0 0 28 10", "aria-hidden": "true" }, svg("path", { class: `line ${style}`, d: "M0 5H28" })), text)));
}

// Lines across a drawing at round values between two, with the values at their left.
function levels(low, high, left, right, y) {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((each) => (high - low) / each <= 7) || 0.25;
  const shapes = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9; tick += step) {
    shapes.push(svg("path", { class: "axis", d: `M${left} ${y(tick)}H${WIDTH - right}` }), svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, score(tick, 2)));
  }
  return shapes;
}

// Lines over numbers from 1 on, on a logarithmic axis; each line has a class and its values.
function lines({ label, over, series, marks = [], flat = [] }) {
  const height = 340, left = 46, right = 16, top = 12, bottom = 42;
  const values = [...series.flatMap((one) => one.values), ...flat.map((one) => one.value), ...marks.map((one) => one.value)].filter((value) => value !== null);
  let low = Math.min(...values), high = Math.max(...values);
  const margin = Math.max(0.02, (high - low) * 0.08);
  [low, high] = [Math.max(0, low - margin), Math.min(1, high + margin)];
  const most = Math.max(...over, 2);
  const x = (value) => left + (Math.log(value) / Math.log(most)) * (WIDTH - left - right);
  const y = (value) => top + ((high - value) / (high - low || 1)) * (height - top - bottom);
  const shapes = levels(low, high, left, right, y);
  for (const tick of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].filter((each) => each <= most)) {
    shapes.push(svg("text", { x: x(tick), y: height - bottom + 18, "text-anchor": "middle" }, tick.toLocaleString("en")));
  }
  shapes.push(svg("text", { x: (left + WIDTH) / 2, y: height - 4, "text-anchor": "middle" }, "t, number of prompts"));
  for (const { value, style } of flat) shapes.push(svg("path", { class: `line ${style}`, d: `M${left} ${y(value)}H${WIDTH - right}` }));
  for (const { values: known, style } of series) {
    const points = known.map((value, place) => (value === null ? null : `${x(over[place]).toFixed(1)} ${y(value).toFixed(1)}`)).filter(Boolean);
    if (points.length) shapes.push(svg("path", { class: `line ${style}`, d: `M${points.join("L")}` }));
  }
  for (const { at, value } of marks) shapes.push(svg("circle", { class: "fill-blue", cx: x(at), cy: y(value), r: 5 }));
  return framed(height, label, shapes);
}

// Bars from 0 to 1 beside each other for each name.
function bars(label, names, groups) {
  const row = 16, gap = 14, left = 150;
  const height = names.length * (groups.length * row + gap) + 24;
  const x = (value) => left + value * (WIDTH - left - 60);
  const shapes = [];
  names.forEach((name, place) => {
    const top = place * (groups.length * row + gap) + 6;
    const short = [...visible(name)].length > 20 ? `${[...visible(name)].slice(0, 19).join("")}…` : visible(name);
    shapes.push(svg("text", { x: left - 8, y: top + (groups.length * row) / 2 + 4, "text-anchor": "end" }, short));
    groups.forEach(({ values, fill: style }, number) => {
      const value = values[place], y = top + number * row;
      if (value === null || value === undefined) return;
      shapes.push(svg("rect", { class: style, x: left, y, width: Math.max(0.5, x(value) - left), height: row - 4 }), svg("text", { x: x(value) + 5, y: y + 10 }, score(value)));
    });
  });
  shapes.push(svg("path", { class: "axis", d: `M${left} 0V${height - 20}` }));
  return framed(height, label, shapes);
}

// Differences with their intervals, around 0.
function intervals(label, rows) {
  const row = 30, left = 230, right = 30, height = rows.length * row + 30;
  const reach = Math.max(0.02, ...rows.flatMap((each) => [each.low, each.high, each.difference]).filter((value) => value !== null).map(Math.abs)) * 1.1;
  const x = (value) => left + ((value + reach) / (2 * reach)) * (WIDTH - left - right);
  const shapes = [svg("path", { class: "axis", d: `M${x(0)} 0V${height - 22}` }), svg("text", { x: x(0), y: height - 6, "text-anchor": "middle" }, "0")];
  for (const end of [-reach, reach]) shapes.push(svg("text", { x: x(end), y: height - 6, "text-anchor": "middle" }, `${end > 0 ? "+" : ""}${score(end)}`));
  rows.forEach((each, place) => {
    const y = place * row + 15;
    const name = `${visible(each.first)} − ${visible(each.second)}`;
    shapes.push(svg("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, name.length > 32 ? `${name.slice(0, 31)}…` : name));
    if (each.low !== null && each.high !== null) shapes.push(svg("path", { class: "line blue", d: `M${x(each.low)} ${y}H${x(each.high)}` }));
    if (each.difference !== null) shapes.push(svg("circle", { class: "fill-blue", cx: x(each.difference), cy: y, r: 5 }));
  });
  return framed(height, label, shapes);
}

// The best value of a claim with its interval, and its baseline, from run to run.
function history(label, points) {
  const height = 260, left = 46, right = 16, top = 12, bottom = 40;
  const known = points.flatMap((each) => [each.best, each.low, each.high, each.maximum]).filter((value) => typeof value === "number");
  const low = Math.max(0, Math.min(...known) - 0.03), high = Math.min(1, Math.max(...known) + 0.03);
  const x = (place) => left + ((place + 0.5) / points.length) * (WIDTH - left - right);
  const y = (value) => top + ((high - value) / (high - low || 1)) * (height - top - bottom);
  const drawn = (key) => points.map((each, place) => (typeof each[key] === "number" ? `${x(place)} ${y(each[key])}` : null)).filter(Boolean).join("L");
  const shapes = levels(low, high, left, right, y);
  for (const [key, style] of [["maximum", "orange dash"], ["best", "blue"]]) if (drawn(key)) shapes.push(svg("path", { class: `line ${style}`, d: `M${drawn(key)}` }));
  const every = Math.ceil(points.length / 8);
  points.forEach((each, place) => {
    if (each.low !== null && each.high !== null) shapes.push(svg("path", { class: "line blue thin", d: `M${x(place)} ${y(each.low)}V${y(each.high)}` }));
    const [across, down] = [x(place), y(each.best)], title = svg("title", {}, `${visible(each.label)}: ${score(each.best)}`);
    shapes.push(each.passed === false ? svg("polygon", { class: "run fill-orange", points: `${across - 6},${down} ${across},${down - 6} ${across + 6},${down} ${across},${down + 6}` }, title) : svg("circle", { class: `run fill-${each.passed === null ? "grey" : "blue"}`, cx: across, cy: down, r: 4 }, title));
    if (place % every === 0) shapes.push(svg("text", { x: x(place), y: height - 14, "text-anchor": "middle" }, visible(each.label).slice(0, 10)));
  });
  return framed(height, label, shapes);
}
