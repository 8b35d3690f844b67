// Draws loss and accuracy as SVG, from {series: [{name, loss: [[step, value]], accuracy: [...]}],
// stages: [{kind, begin, end, kept}]}. No library, so that the page works without a network.
"use strict";
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];
const WIDTH = 560, HEIGHT = 280, LEFT = 46, RIGHT = 14, TOP = 20, BOTTOM = 34;

function element(name, attributes, parent, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

function ticks(least, most) {
  const rough = (most - least) / 5, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough);
  const made = [];
  for (let i = Math.ceil(least / step); i * step <= most * 1.0001; i++) {
    made.push(+(i * step).toPrecision(6));
  }
  return made;
}

function chart(svg, data, kind, unit) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  const series = data.series.filter((s) => s[kind].length);
  const points = series.flatMap((s) => s[kind]);
  const lastX = Math.max(1, ...points.map((p) => p[0]), ...data.stages.map((s) => s.end));
  const top = kind === "accuracy" ? 100 : Math.max(0.1, ...points.map((p) => p[1])) * 1.05;
  const values = points.map((p) => p[1]);
  const floor = kind === "accuracy" ? Math.max(0, Math.floor(Math.min(...values, 90) / 10 - 1) * 10) : 0;
  const x = (value) => LEFT + (value / lastX) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (value - floor) / (top - floor) * (HEIGHT - TOP - BOTTOM);
  const names = [];
  data.stages.forEach((stage, i) => {
    const from = x(stage.begin - 1), width = x(stage.end) - from;
    element("rect", {x: from, y: TOP, width, height: HEIGHT - TOP - BOTTOM,
      class: stage.kept === false ? "back" : i % 2 ? "even" : "odd"}, svg);
    names.push([stage.kind, from, width]);
  });
  for (const value of ticks(floor, top)) {
    element("line", {x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: "grid"}, svg);
    element("text", {x: LEFT - 6, y: y(value) + 4, "text-anchor": "end"}, svg, value);
  }
  for (const value of ticks(0, lastX)) {
    if (value % 1) continue;
    element("text", {x: x(value), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle"}, svg, value);
  }
  element("text", {x: WIDTH - RIGHT, y: HEIGHT - 3, "text-anchor": "end"}, svg, "step");
  element("text", {x: 0, y: 11}, svg, unit);
  series.forEach((one, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const path = one[kind].map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ");
    element("polyline", {points: path, stroke: colour, class: "curve"}, svg);
    if (one[kind].length === 1) {
      element("circle", {cx: x(one[kind][0][0]), cy: y(one[kind][0][1]), r: 3, fill: colour}, svg);
    }
  });
  for (const [name, from, width] of names) {
    const narrow = width < 8 * name.length, middle = from + width / 2;
    if (narrow && width < 9) continue;
    const at = narrow
      ? {x: middle + 4, y: HEIGHT - BOTTOM - 6, transform:
        `rotate(-90 ${middle + 4} ${HEIGHT - BOTTOM - 6})`}
      : {x: middle, y: HEIGHT - BOTTOM - 6, "text-anchor": "middle"};
    element("text", {...at, class: "stage"}, svg, name);
  }
  const mark = element("line", {y1: TOP, y2: HEIGHT - BOTTOM, class: "mark"}, svg);
  svg.onmousemove = (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    show(svg.parentNode, series, kind, at * lastX, mark, x);
  };
  show(svg.parentNode, series, kind, lastX, mark, x);
}

// Values of all curves at the measured step that is next to `step`, in the legend.
function show(figure, series, kind, step, mark, x) {
  const legend = figure.querySelector("figcaption");
  legend.replaceChildren();
  series.forEach((one, i) => {
    const near = one[kind].reduce((a, b) =>
      Math.abs(b[0] - step) < Math.abs(a[0] - step) ? b : a);
    const item = document.createElement("span");
    item.style.color = COLOURS[i % COLOURS.length];
    const digits = kind === "accuracy" ? 1 : 3;
    item.textContent = `${one.name} ${near[1].toFixed(digits)} at step ${near[0]}`;
    legend.appendChild(item);
    mark.setAttribute("x1", x(near[0]));
    mark.setAttribute("x2", x(near[0]));
  });
}

function draw(data) {
  chart(document.getElementById("loss"), data, "loss", "loss, nats");
  chart(document.getElementById("accuracy"), data, "accuracy", "right answers, per cent");
}
