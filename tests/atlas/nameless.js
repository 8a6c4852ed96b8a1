// controls that a screen reader could not name
() => [...document.querySelectorAll("a, button, input, select, summary, img, table")]
  .filter((e) => e.checkVisibility())
  .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.innerText?.trim()
    || e.querySelector("img[alt]:not([alt=''])") || (e.tagName === "IMG" && e.hasAttribute("alt"))))
  .map((e) => e.outerHTML.slice(0, 80))
