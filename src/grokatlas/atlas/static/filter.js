// Filters of the page of all claims. Their state is in the address: #q=accuracy&paper=my_paper
"use strict";
(() => {
  const form = document.getElementById("filter");
  const items = [...document.querySelectorAll("[data-paper]")];
  const groups = [...document.querySelectorAll("[data-group]")];
  const texts = new Map(items.map((item) => [item, words(item)]));
  const kinds = { claims: items.filter((i) => i.matches("tr")), figures: items.filter((i) => i.matches("li")) };

  // the words of an item, and the names of its paper and methods as they are written
  function words(item) {
    const { paper, methods } = item.dataset;
    return `${item.textContent} ${paper} ${methods} ${paper.replaceAll("_", " ")}`.toLowerCase();
  }

  function chosen() {
    return Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
  }

  function fits(item, { q = "", paper, method, verdict }) {
    const { methods, verdicts } = item.dataset;
    return (!paper || item.dataset.paper === paper)
      && (!method || methods.split(" ").includes(method))
      && (!verdict || verdicts.split(" ").includes(verdict))
      && q.toLowerCase().split(/\s+/).every((word) => texts.get(item).includes(word));
  }

  function show() {
    const wanted = chosen();
    for (const item of items) item.hidden = !fits(item, wanted);
    for (const group of groups) {
      const own = [...group.querySelectorAll("[data-paper]")];
      group.hidden = own.length > 0 && own.every((item) => item.hidden);
    }
    const counts = Object.entries(kinds).map(([name, all]) =>
      `${all.filter((item) => !item.hidden).length} of ${all.length} ${name}`);
    document.getElementById("shown").textContent = `${counts.join(" and ")} shown`;
  }

  // an address without "=" is a place on the page and leaves the filters alone
  function read() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return;
    const given = new URLSearchParams(hash);
    for (const field of form.elements) if (field.name) field.value = given.get(field.name) ?? "";
    show();
  }

  function keep() {
    const hash = `#${new URLSearchParams(chosen())}`;
    if (hash !== location.hash) location.replace(hash);
    show();
  }

  form.hidden = false;
  form.addEventListener("input", keep);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(keep));
  window.addEventListener("hashchange", () => {
    read();
    if (document.activeElement?.closest(".matrix")) form.scrollIntoView();
  });
  read();
  show();
})();
