// What Sphinx and Furo leave out for keyboards, screen readers and narrow screens.
document.addEventListener("DOMContentLoaded", () => {
  // A block that scrolls must be reachable without a mouse.
  for (const block of document.querySelectorAll("pre, .table-wrapper, div.math")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  }
  // A short word of code, such as --collect-only, does not break at its hyphens.
  for (const word of document.querySelectorAll("code.literal > .pre")) {
    if (word.textContent.length < 28) word.style.whiteSpace = "nowrap";
  }
  // The sidebar's captions say that they are headings, and not of which level.
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) {
    caption.setAttribute("aria-level", "2");
  }
  // The page of searches has no heading.
  if (!document.querySelector("h1")) {
    const heading = document.createElement("h1");
    heading.textContent = document.title.split(" - ")[0];
    document.querySelector("[role=main]")?.prepend(heading);
  }
  // Two landmarks of one kind need names.
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "This page");
  // A list holds items; the role that Docutils gives to sources is obsolete.
  for (const source of document.querySelectorAll("[role=doc-biblioentry]")) {
    source.setAttribute("role", "listitem");
  }
});
