// Elements are made with their texts as text, so that no name is ever markup.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;
const JOINER = /(?<=[\u2600-\u27bf\ufe0f\u{1f000}-\u{1faff}])\u200d(?=[\u2600-\u27bf\u{1f000}-\u{1faff}])/gu;

// Shows what a reader could not see as escapes, as the tables of the page do.
function visible(text, lines = false) {
  const shown = (letter) => {
    if (lines && letter === "\n") return letter;
    const number = letter.codePointAt(0);
    if (number === 10) return "\\n";
    if (number === 9) return lines ? "    " : "\\t";
    if (number <= 0xff) return `\\x${number.toString(16).padStart(2, "0")}`;
    return number > 0xffff ? `\\U${number.toString(16).padStart(8, "0")}` : `\\u${number.toString(16).padStart(4, "0")}`;
  };
  return String(text).split(JOINER).map((part) => part.replace(HIDDEN, shown)).join("\u200d");
}

// A sentence, whose numbers stay on one line: browsers break after the hyphen of 8.7e-18, a dash and a sign.
const sentence = (text) => visible(text).replace(/([<>=]) (?=[.\d])/g, "$1\u00a0").replace(/(?<=\de)-(?=\d)/g, "-\u2060").replace(/(?<=\d)\u2013(?=[.\d])/g, "\u2013\u2060");

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== "") made.append(child);
  return made;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const code = (text) => el("code", {}, visible(text) || "(empty)");
const block = (text) => el("pre", { tabindex: 0 }, visible(text, true));
const soft = (text) => el("p", { class: "soft" }, text);
const button = (text, act, attributes = {}) => el("button", { type: "button", on: { click: act }, ...attributes }, text);

// Numbers as reports write them: .683, and a dash for what is not known.
function score(value, digits = 3) {
  if (value === null || value === undefined) return "-";
  return value.toFixed(digits).replace(/^(-?)0\./, "$1.").replace("-", "\u2212");
}

// What stands deflated in an element, or null where there is none.
async function inflated(id) {
  const element = document.getElementById(id);
  if (!element) return null;
  const letters = atob(element.textContent.trim());
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
