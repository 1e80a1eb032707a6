// What a claim opens to: one part at a time, made when it is asked for.

const ABSENT = "The JSON report alone does not tell which prompt was right on which example. Run pytest with --maxrandom-html, or give maxrandom report the file of --maxrandom-predictions.";
const WITHHELD = "This page holds no texts of this claim's questions: it was made in CI, and the suite does not say share: texts.";
const MORE = 40;

const flagged = (flag) => el("div", { class: `flag ${flag.does}` }, el("b", {}, flag.kind), ` (${flag.does}) `, sentence(flag.text), el("div", { class: "soft" }, `What to do: ${visible(flag.remedy)}. `, flag.page ? el("a", { href: flag.page, rel: "noreferrer" }, "More on ", flag.kind) : ""));

function summaryView(claim) {
  const told = el("div");
  // Written by the reports' own HTML, in which every text is escaped; no script of it would run.
  told.innerHTML = claim.told;
  return [
    claim.flags.length ? el("h3", {}, "Red flags") : "",
    ...claim.flags.map(flagged),
    el("h3", {}, "All that is known of it"),
    told,
  ];
}

function promptView(claim) {
  const prompt = claim.prompt;
  if (!claim.texts) return [soft(WITHHELD)];
  if (!prompt) return [soft("The text of the best prompt is not recorded.")];
  const solved = (claim.cells && claim.cells.solved) || [];
  const shown = prompt.demonstration_ids.map((id, place) => el("li", {}, code(id), solved[place] === undefined ? "" : block(solved[place])));
  return [
    el("p", {}, "Number ", String(claim.best + 1), " of the sweep, digest ", code(prompt.digest), prompt.tied_with ? `; the first of ${prompt.tied_with + 1} that score the same` : "", ". With the first of its examples:"),
    block(prompt.text + prompt.question),
    el("p", {}, "Possible answers: ", ...prompt.answers.flatMap((answer) => [code(answer), " "])),
    shown.length ? el("h3", {}, `Its ${shown.length} demonstrations`) : soft("It shows no demonstrations."),
    el("ol", {}, shown),
  ];
}

function choiceList(claim, answer, text) {
  const { cells } = claim;
  const named = (place) => {
    if (text && text.choices[place] !== undefined) return visible(text.choices[place]);
    return cells.labels[place] !== undefined ? visible(cells.labels[place]) : `choice ${place + 1}`;
  };
  const best = answer.scores.length ? Math.max(...answer.scores.map((value) => (value === null ? -Infinity : value))) : null;
  const items = [];
  for (let place = 0; place < answer.choices; place += 1) {
    const right = answer.right.includes(place), chosen = answer.chosen === place;
    if (!answer.scores.length && !right && !chosen && answer.choices > 12) continue;
    const told = [right ? el("span", { class: "good" }, "✓ right") : "", right && chosen ? " · " : "", chosen ? el("span", { class: right ? "good" : "bad" }, "chosen") : ""];
    const value = answer.scores[place];
    const shown = answer.scores.length ? (value === null ? "−∞" : value.toFixed(3).replace("-", "−")) + (value === best ? " ★" : "") : "";
    items.push(el("li", {}, el("span", {}, told), el("span", {}, named(place)), el("span", { class: "score" }, shown)));
  }
  return el("ul", { class: "choices" }, items);
}

// How many samples of each answer there are; each has a row of its own.
function samplesOf(cells) {
  const [first] = cells.answers;
  return first && first.samples ? first.samples.length : 1;
}

// What an answer counts: that of all its samples, where there are several.
function worthOf(cells, answer) {
  if (answer.samples) return answer.samples.reduce((sum, each) => sum + each.score, 0) / answer.samples.length;
  return cells.grades ? cells.grades[cells.best][answer.column] : Number(answer.right.includes(answer.chosen));
}

function sampleList(samples) {
  const mark = (value) => (value === 1 ? el("span", { class: "good" }, "✓ ") : value === 0 ? el("span", { class: "bad" }, "✗ ") : el("span", { class: "score" }, `${score(value)} `));
  return el("ol", { class: "choices", "aria-label": "Samples" }, samples.map((each) => el("li", {}, mark(each.score), el("span", {}, each.said === undefined ? "" : visible(each.said)))));
}

const FINISHES = { length: "cut at its greatest length", refused: "refused" };

function answerCard(claim, answer, place, questions) {
  const { cells } = claim, worth = worthOf(cells, answer), grade = cells.grades || answer.samples ? worth : null;
  const right = worth === 1;
  const listed = answer.choices > 1 && answer.right.length < answer.choices && !cells.labels.length;
  const verdict = grade === null ? (right ? "✓ right" : answer.chosen === null && listed ? "✗ no choice could be read" : "✗ wrong") : `score ${score(grade)}${answer.samples ? ` of ${answer.samples.length} samples` : ""}`;
  const text = questions && questions.texts[place], id = cells.examples[answer.column];
  const solved = cells.rows.filter((row) => row[answer.column] === "1").length;
  return el("article", { class: "answer", id: `example-${answer.column}`, "aria-label": `Example ${visible(id)}` },
    el("header", {}, el("b", { class: grade !== null ? "" : right ? "good" : "bad" }, verdict), code(id), el("span", { class: "soft" }, `${grade === null ? "right" : "1"} for ${solved} of ${cells.rows.length} ${answer.samples ? "samples of all prompts" : "prompts"}`)),
    text && text.input ? block(text.input) : "",
    answer.samples ? sampleList(answer.samples) : answer.said === undefined ? "" : el("div", {}, el("span", { class: "soft" }, `The model wrote${FINISHES[answer.finish] ? ` (${FINISHES[answer.finish]})` : ""}:`), block(answer.said)),
    cells.grades && !text ? "" : choiceList(claim, answer, text));
}

async function answersView(claim) {
  const { cells } = claim;
  if (!cells) return [soft(ABSENT)];
  const questions = claim.questions ? await inflated(`texts-${claim.questions}`) : null;
  const known = cells.answers.map((answer, place) => ({
    answer, place, right: worthOf(cells, answer) === 1,
    text: [cells.examples[answer.column], answer.said, ...(answer.samples || []).map((each) => each.said), questions && questions.texts[place].input, ...((questions && questions.texts[place].choices) || [])].join(" ").toLowerCase(),
    sure: margin(answer),
  }));
  const wrong = known.filter((each) => !each.right).length, isGraded = cells.grades || known.some((each) => each.answer.samples);
  let shown = MORE, list = [];
  const which = el("select", { "aria-label": "Which answers", on: { change: () => again() } },
    el("option", { value: "wrong" }, `${isGraded ? "below 1" : "wrong"} (${wrong})`), el("option", { value: "right" }, `${isGraded ? "1" : "right"} (${known.length - wrong})`), el("option", { value: "all" }, `all (${known.length})`));
  which.value = wrong ? "wrong" : "right"; // it opens on what there is
  const order = el("select", { "aria-label": "Order", on: { change: () => again() } }, el("option", { value: "asked" }, "as they were asked"),
    known.some((each) => each.sure !== null) ? el("option", { value: "sure" }, "surest first") : "");
  const search = el("input", { type: "search", placeholder: "Search answers", "aria-label": "Search answers", on: { input: () => again() } });
  const found = el("div"), told = el("span", { class: "soft", role: "status" });
  const more = button("Show more", () => { shown += MORE; show(); });
  function again() {
    const wanted = search.value.toLowerCase();
    list = known.filter((each) => (which.value === "all" || each.right === (which.value === "right")) && each.text.includes(wanted));
    if (order.value === "sure") list.sort((one, other) => other.sure - one.sure);
    shown = MORE;
    show();
  }
  function show() {
    found.replaceChildren(...list.slice(0, shown).map(({ answer, place }) => answerCard(claim, answer, place, questions)));
    told.textContent = `${list.length} answers`;
    more.hidden = list.length <= shown;
  }
  claim.jump = (column) => {
    which.value = "all";
    search.value = "";
    again();
    const place = list.findIndex((each) => each.answer.column === column);
    shown = Math.max(MORE, place + 1);
    show();
    const card = document.getElementById(`example-${column}`);
    if (card) card.scrollIntoView({ block: "start" });
  };
  again();
  const unit = cells.unit && known.some((each) => each.answer.scores.length) ? `Scores are the ${cells.unit} of each choice; ★ has the highest.` : "";
  const shows = cells.demonstrations[cells.best] || [];
  return [
    claim.texts ? "" : soft(WITHHELD),
    claim.texts && !questions ? soft("The texts of the questions are not at hand: a predictions file and recorded results hold ids alone.") : "",
    questions && questions.limit < 8000 ? soft("Texts are shortened, so that the page stays small.") : "",
    el("p", { class: "soft" }, `What prompt number ${Math.floor(cells.best / samplesOf(cells)) + 1}, the best one, answered`, shows.length ? " after the demonstrations " : "", ...shows.flatMap((id, place) => [place ? " " : "", code(id)]), `. ${unit}`),
    el("div", { class: "bar" }, which, order, search, told), found, more,
  ];
}

function margin(answer) {
  const known = answer.scores.filter((value) => value !== null).sort((one, other) => other - one);
  return known.length > 1 ? known[0] - known[1] : null;
}

function promptsView(claim) {
  const { cells, counts, n } = claim;
  if (!cells && !counts.length) return [soft(ABSENT)];
  const rows = cells
    ? cells.rows.map((row, place) => { const asked = row.length - (row.split("-").length - 1), right = total(cells, place); return { place, right, asked, name: cells.prompts[place], shows: cells.demonstrations[place] || [] }; })
    : counts.map((right, place) => ({ place, right, asked: n, name: "", shows: [] }));
  rows.sort((one, other) => other.right / other.asked - one.right / one.asked || one.place - other.place);
  rows.forEach((row, place) => { row.rank = place + 1; });
  const best = cells ? cells.best : claim.best, k = cells ? samplesOf(cells) : 1;
  const number = (place) => Math.floor(place / k) + 1;
  const bar = (row) => svg("svg", { viewBox: "0 0 100 12", width: 110, height: 13, "aria-hidden": "true" }, svg("rect", { class: "all", width: 100, height: 12 }), svg("rect", { class: "best", width: (100 * row.right) / row.asked, y: 2, height: 8 }));
  const columns = [
    ["rank", true, (row) => String(row.rank)],
    ["number", true, (row) => String(number(row.place))],
    [cells && cells.grades ? "mean score" : "accuracy", true, (row) => score(row.right / row.asked)],
    ...(cells && cells.grades ? [] : [["correct", true, (row) => `${row.right}/${row.asked}`]]),
    ["from 0 to 1", false, bar],
  ];
  if (cells) columns.push(["prompt", false, (row) => [code(row.name), number(row.place) !== number(best) ? "" : k > 1 ? " of the best" : " the best"]]);
  if (rows.some((row) => row.shows.length)) columns.push(["demonstrations", false, (row) => row.shows.flatMap((id) => [code(id), " "])]);
  return [cells ? "" : soft(ABSENT), tableOf(k > 1 ? `All ${rows.length} samples of ${rows.length / k} prompts, ranked` : `All ${rows.length} prompts, ranked`, columns, rows)];
}

function matrixView(claim, open) {
  if (!claim.cells) return [soft(ABSENT)];
  return [matrix(claim.cells, async (column) => { await open("answers"); claim.jump(column); })];
}

function curvesView(claim) {
  const found = claim.curve;
  if (!found) return [soft("The record does not tell which guessers the baseline is that of, or the metric is no accuracy: there is no curve.")];
  const told = `Best accuracy of 1 to ${found.t.at(-1)} prompts, and of as many random guessers.`;
  const picked = found.t.map((t, place) => ({ t, place })).filter(({ t }, place, all) => place === all.length - 1 || [1, 2, 5, 10, 20, 50, 100, 200, 500].includes(t));
  return [
    lines({
      label: told, over: found.t,
      series: [{ values: found.maximum, style: "orange dash" }, { values: found.first.map((value, place) => (found.t[place] <= found.of ? value : null)), style: "grey" }, { values: found.expected, style: "blue" }],
      flat: [{ value: found.standard, style: "grey dot" }],
      marks: found.best === null ? [] : [{ at: found.at, value: found.best }],
    }),
    legend([["blue", "expected best of t of this run's prompts (selection curve)"], ["grey", "best of the first t, as they were swept"], ["orange dash", "maximum random baseline: the best of t guessers"], ["grey dot", "standard baseline: one guesser"]]),
    el("p", { class: "soft" }, `The dot is the claim: t = ${found.at}. Where the orange line is as high, so many guessers do as well as the prompts. Reading off the t at which the lines are furthest apart is no test.`),
    tableOf("The same in numbers", [["t", true, (row) => String(row.t)], ["expected best", true, (row) => score(found.expected[row.place])], ["best of the first t", true, (row) => (row.t <= found.of ? score(found.first[row.place]) : "-")], ["maximum random baseline", true, (row) => score(found.maximum[row.place])]], picked),
  ];
}

function labelsView(claim) {
  return claim.labels.flatMap((check) => [
    el("p", {}, sentence(check.sentence || check.finding || "There is no finding.")),
    ...check.asked.flatMap((asked) => {
      const groups = [["recall", "fill-blue", "recall: share of the right ones that are answered with it"], ["predicted", "fill-orange", "predicted: share of all answers"], ["base_rate", "fill-grey", "base rate: its probability without a question"]].filter(([key]) => asked.labels.some((each) => each[key] !== null));
      const rows = asked.labels;
      return [
        el("h3", {}, `Asked as ${asked.as}`),
        bars(`Recall, share of answers and base rate of ${rows.length} labels`, rows.map((each) => each.label), groups.map(([key, style]) => ({ fill: style, values: rows.map((each) => each[key]) }))),
        el("ul", { class: "legend" }, groups.map(([, style, text]) => el("li", {}, svg("svg", { class: "chart", width: 14, height: 10, viewBox: "0 0 14 10", "aria-hidden": "true" }, svg("rect", { class: style, width: 14, height: 10 })), text))),
        el("p", { class: "soft" }, `Score ${score(asked.score)}; the best of as many guessers ${score(asked.baseline)}; p ${asked.p}.`),
      ];
    }),
  ]);
}

function armsView(claim) {
  return [
    intervals("Differences of arms on this task, with their intervals", claim.arms),
    tableOf("Arms compared on this task with as many shots", [
      ["arms", false, (row) => [code(row.first), " − ", code(row.second)]],
      ["difference", true, (row) => score(row.difference)],
      ["interval", true, (row) => (row.low === null ? "-" : `${score(row.low)} to ${score(row.high)}`)],
      ["p", true, (row) => row.p],
      ["changed", false, (row) => visible(row.changed || "-")],
      ["result", false, (row) => row.result],
    ], claim.arms),
  ];
}

function trendView(claim) {
  const same = new Set(claim.trend.map((each) => each.examples).filter(Boolean)).size < 2;
  return [
    history("The best of t prompts from run to run, the oldest first", claim.trend),
    legend([["blue", "best prompt, with the 95 % interval that accounts for its selection (orange diamond: the claim failed; grey: no verdict)"], ["orange dash", "maximum random baseline"]]),
    same ? "" : soft("Not all runs used the same examples; their values cannot be compared."),
    tableOf("The same in numbers", [
      ["run", false, (row) => code(row.label)], ["when", false, (row) => visible(row.when)],
      ["t", true, (row) => String(row.t)], ["n", true, (row) => String(row.n)], ["best", true, (row) => score(row.best)],
      ["interval", true, (row) => (row.low === null || row.high === null ? "-" : `${score(row.low)} to ${score(row.high)}`)],
      ["needed", true, (row) => score(row.needed)], ["maximum random baseline", true, (row) => score(row.maximum)], ["result", false, (row) => row.result],
      ...(claim.trend.some((each) => each.incumbent) ? [["beside the incumbent", false, (row) => (row.incumbent ? code(row.incumbent) : "-")]] : []),
    ], claim.trend),
  ];
}

const VIEWS = [
  ["summary", "Summary", () => true, summaryView],
  ["prompt", "Best prompt", () => true, promptView],
  ["answers", "Answers", () => true, answersView],
  ["prompts", "Prompts", () => true, promptsView],
  ["matrix", "Matrix", () => true, matrixView],
  ["curves", "Curves", () => true, curvesView],
  ["labels", "Label bias", (claim) => claim.labels.length, labelsView],
  ["arms", "Arms", (claim) => claim.arms.length, armsView],
  ["trend", "Trend", (claim) => claim.trend.length > 1, trendView],
];
