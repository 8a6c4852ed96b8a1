// the contrast of every text that shows with what lies behind it, worst first
() => {
  const rgb = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const bent = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => bent(c / 255);
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.closest(".plot")) continue;
    const pair = [luminance(rgb(getComputedStyle(e).color)), luminance(behind(e))].sort();
    found.push([(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), e.outerHTML.slice(0, 80)]);
  }
  return found.sort((a, b) => a[0] - b[0]);
}
