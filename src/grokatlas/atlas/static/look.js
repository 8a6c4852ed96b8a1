// Curves to look at closely. plotly.js and a figure's data are loaded when the reader opens them.
"use strict";
(() => {
  const MOST_TRACES = 250;
  const MOST_BANDS = 8; // more of them hide each other
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const scripts = new Map();
  let ids = 0;

  function load(file) {
    if (!scripts.has(file)) {
      scripts.set(file, new Promise((done, failed) => {
        const script = document.createElement("script");
        Object.assign(script, { src: file, onload: done, onerror: () => failed(new Error(`${file} cannot be read`)) });
        document.head.append(script);
      }));
    }
    return scripts.get(file);
  }

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  function select(title, options, value, changed) {
    const list = make("select", { id: `look-${ids++}` },
      ...options.map((text, index) => make("option", { value: index, textContent: text })));
    list.value = value;
    list.addEventListener("change", changed);
    const label = make("label", { htmlFor: list.id, textContent: title });
    return [make("div", { className: "choice" }, label, list), list];
  }

  function check(title, checked, changed) {
    const box = make("input", { type: "checkbox", checked });
    box.addEventListener("change", changed);
    return [make("label", {}, box, title), box];
  }

  // plotly reads a few tags in its texts: data are not to
  const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const range = (values) => {
    const above = values.filter((value) => value > 0);
    return above.reduce((a, b) => Math.max(a, b), 0) / above.reduce((a, b) => Math.min(a, b), Infinity);
  };

  function open(details, data) {
    const state = { boxes: [] };
    const redraw = () => draw(data, state);
    const fresh = () => { guess(data, state); redraw(); };
    const first = Math.max(0, data.y.findIndex(({ label }) => /^(train and test|median|value|test)/.test(label)));
    const controls = make("div", { className: "controls" });
    const add = ([element, control]) => { controls.append(element); return control; };
    state.y = add(select("Draw", data.y.map((choice) => choice.label), first, fresh));
    state.x = add(select("against", data.x, 0, fresh));
    const names = data.groups.map((group) => group.name);
    if (names.length > 0) state.by = add(select("coloured by", ["kind", ...names], 0, redraw));
    state.logX = add(check("logarithmic across", false, redraw));
    state.logY = add(check("logarithmic up", false, redraw));
    for (const group of data.groups) controls.append(fieldset(group, state, redraw));
    state.status = make("p", { className: "quiet" });
    state.status.setAttribute("role", "status");
    state.plot = make("div", { className: "plot" });
    details.querySelector(".waiting").replaceWith(controls, state.status, state.plot);
    fresh();
  }

  function fieldset(group, state, redraw) {
    const made = make("fieldset", {}, make("legend", { textContent: group.name }));
    const boxes = new Map(group.values.map((value) => {
      const [label, box] = check(value === "" ? "(none)" : value, group.shown.includes(value), redraw);
      made.append(label);
      return [value, box];
    }));
    state.boxes.push(boxes);
    if (group.values.length > 3) {
      const all = make("button", { type: "button", textContent: "all or none" });
      all.setAttribute("aria-label", `all or none of ${group.name}`);
      all.addEventListener("click", () => {
        const every = [...boxes.values()].every((box) => box.checked);
        for (const box of boxes.values()) box.checked = !every;
        redraw();
      });
      made.append(all);
    }
    return made;
  }

  // axes that suit what was chosen; the reader may change them
  function guess(data, state) {
    const choice = data.y[state.y.value];
    const shown = visible(data, state);
    const all = (columns) => shown.flatMap((curve) => columns.flatMap((column) =>
      [curve.columns[column], ...(bounded(data, column) ? [curve.columns.low, curve.columns.high] : [])].flat()));
    const small = /error|loss|mse|norm|difference|ratio/.test(choice.label);
    state.logX.checked = range(all([data.x[state.x.value]])) > 100;
    state.logY.checked = small && range(all(choice.columns)) > 100;
  }

  const bounded = (data, column) => data.band && ["median", "value"].includes(column);
  const some = (values) => values.some((value) => value !== null);

  function visible(data, state) {
    return data.curves.filter(({ group }) =>
      group.every((value, index) => state.boxes[index].get(value).checked));
  }

  function draw(data, state) {
    const x = data.x[state.x.value];
    const { label, columns } = data.y[state.y.value];
    const curves = visible(data, state).filter((curve) =>
      columns.some((column) => some(curve.columns[column]) || (bounded(data, column) && some(curve.columns.low))));
    const varying = data.groups.map((_, index) => index)
      .filter((index) => new Set(curves.map(({ group }) => group[index])).size > 1);
    const by = Number(state.by?.value ?? 0) - 1;
    const traces = curves.flatMap((curve) => columns.map((column) =>
      trace(data, curve, x, column, columns, varying, by)));
    const title = (text) => ({ text: plain(text) });
    const drawn = traces.slice(0, MOST_TRACES);
    const series = data.groups.findIndex(({ name }) => name === "series");
    const kinds = [...new Set(curves.map(({ group }) => group[series]))].filter(Boolean);
    const up = kinds.length > 0 && kinds.length < 4 ? `${kinds.join(", ")} (${label})` : label;
    const axis = { gridcolor: "#e6e6e6", linecolor: "#555", ticks: "outside", zeroline: false, exponentformat: "power" };
    const layout = {
      xaxis: { ...axis, title: title(x), type: state.logX.checked ? "log" : "linear" },
      yaxis: { ...axis, title: title(up), type: state.logY.checked ? "log" : "linear" },
      margin: { l: 70, r: 20, t: 45, b: 55 }, hovermode: "closest", hoverlabel: { namelength: -1 },
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: "#1b1d21" },
      paper_bgcolor: "#fff", plot_bgcolor: "#fff", showlegend: drawn.length > 1 && (innerWidth > 740 || drawn.length < 7),
      legend: innerWidth > 740 ? {} : { orientation: "h", y: -0.25 },
    };
    Plotly.react(state.plot, [...drawn.filter(({ y }) => drawn.length <= MOST_BANDS || !some(y)).flatMap(band), ...drawn], layout, { responsive: true, displaylogo: false });
    state.plot.setAttribute("role", "img");
    state.plot.setAttribute("aria-label", `${label} against ${x}, ${drawn.length} curves; the csv has the values`);
    const left = traces.length > MOST_TRACES ? ` of ${traces.length}; choose fewer to see all` : "";
    const thinned = data.points < data.of
      ? ` Thinned evenly: ${data.points.toLocaleString("en")} of ${data.of.toLocaleString("en")} rows; the csv has all.` : "";
    state.status.textContent = `${drawn.length}${left} curves. A click on the legend hides one.${thinned}`;
  }

  // colour: by the group chosen, else by what is drawn if it is several, else by the first group
  // that varies; dashes: by what is drawn if a group has the colour, else by the next group
  function trace(data, curve, x, column, columns, varying, by) {
    const several = columns.length > 1;
    const place = (index) => data.groups[index].values.indexOf(curve.group[index]);
    const colouring = by >= 0 ? by : several ? undefined : varying[0];
    const dashing = varying.find((index) => index !== colouring);
    const colour = colouring === undefined ? data.colours[column] : data.groups[colouring].colours[place(colouring)];
    const seed = dashing !== undefined && ["seed", "member"].includes(data.groups[dashing].name);
    const rank = several && by >= 0 ? columns.indexOf(column) : dashing === undefined || seed ? 0 : place(dashing);
    const names = varying.map((index) => nameOf(data.groups[index], curve.group[index]));
    const name = [...(several ? [column] : []), ...names].join(", ") || column;
    const many = curve.columns[x].length > 40;
    const bounds = bounded(data, column)
      ? curve.columns.low.map((low, i) => [low, curve.columns.high[i]]) : null;
    return {
      x: curve.columns[x], y: curve.columns[column], name: plain(name), type: "scatter", legendgroup: curve.group.join("|") + column,
      mode: many ? "lines" : "lines+markers", marker: { size: 5 },
      line: { color: colour, width: seed ? 1.2 : 1.8, dash: DASHES[rank % DASHES.length] },
      ...(bounds ? { customdata: bounds } : {}),
      hovertemplate: `${plain(x)} %{x}<br>${plain(column)} %{y}${bounds ? "<br>range %{customdata[0]} to %{customdata[1]}" : ""}<extra>${plain(name)}</extra>`,
    };
  }

  // the range over seeds, as an area that is hidden together with its curve
  function band(each) {
    if (!each.customdata) return [];
    const ends = (i) => each.customdata.map((pair) => pair[i]);
    return [{
      x: [...each.x, ...each.x.toReversed()], y: [...ends(1), ...ends(0).toReversed()],
      type: "scatter", mode: "none", fill: "toself", fillcolor: `${each.line.color}2e`,
      legendgroup: each.legendgroup, showlegend: false, hoverinfo: "skip",
    }];
  }

  const nameOf = (group, value) =>
    /^(series|case|panel|problem)$/.test(group.name) && value !== "" ? value : `${group.name} ${value === "" ? "none" : value}`;

  for (const details of document.querySelectorAll("details[data-curves]")) {
    const waiting = details.querySelector(".waiting");
    waiting.textContent = "Loading the curves.";
    details.addEventListener("toggle", async () => {
      if (!details.open || !waiting.isConnected) return;
      const id = details.dataset.curves;
      try {
        await Promise.all([load("plotly.min.js"), load(`${id}.curves.js`)]);
        if (waiting.isConnected) open(details, window.grokatlasCurves[id]);
      } catch (error) {
        waiting.textContent = `The curves cannot be shown: ${error.message}.`;
      }
    });
  }
})();
