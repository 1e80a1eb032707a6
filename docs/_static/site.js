// What Sphinx and Furo leave out for keyboards and screen readers.
document.addEventListener("DOMContentLoaded", () => {
  // A block that scrolls must be reachable without a mouse.
  for (const block of document.querySelectorAll("pre, .table-wrapper, div.math")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  }
  // The sidebar's captions say that they are headings, and not of which level.
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) {
    caption.setAttribute("aria-level", "2");
  }
});
