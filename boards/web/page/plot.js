// Pictures of a cell: lines that grow while Python runs, and small grey images.

const COLOURS = ["#14808f", "#c4661f", "#7a4fa3", "#4f8a2b", "#b03a5b"];
const WIDTH = 640;
const HEIGHT = 220;
const LEFT = 48;
const RIGHT = 12;
const TOP = 22;
const BOTTOM = 26;

function element(name, attributes, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) {
        node.setAttribute(key, value);
    }
    if (text !== undefined) {
        node.textContent = text;
    }
    return node;
}

// Round numbers from low to high, about five.
export function ticks(low, high) {
    const raw = (high - low) / 5 || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
    const result = [];
    for (let i = Math.ceil(low / step); i * step <= high + step / 1e6; ++i) {
        result.push(Number((i * step).toPrecision(6)));
    }
    return result;
}

export class Plot {
    constructor(title) {
        this.title = title;
        this.lines = new Map();
        this.svg = element("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
        this.waiting = false;
    }

    add(line, x, y) {
        if (!this.lines.has(line)) {
            this.lines.set(line, []);
        }
        this.lines.get(line).push([x, y]);
        if (!this.waiting) {
            this.waiting = true;
            setTimeout(() => this.draw(), 60); // not for every point
        }
    }

    draw() {
        this.waiting = false;
        const points = [...this.lines.values()].flat();
        const xs = points.map((p) => p[0]);
        const ys = points.map((p) => p[1]);
        const x0 = Math.min(...xs);
        const x1 = Math.max(...xs, x0 + 1);
        const y0 = Math.min(0, ...ys);
        const y1 = Math.max(...ys, y0 + 1e-6);
        const place = (x, y) => [
            LEFT + ((x - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - ((y - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM),
        ];
        const parts = [element("title", {}, this.title)];
        for (const tick of ticks(y0, y1)) {
            const [, y] = place(x0, tick);
            parts.push(
                element("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, stroke: "#8884" }),
                element("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, tick),
            );
        }
        for (const tick of ticks(x0, x1)) {
            const [x] = place(tick, 0);
            parts.push(element("text", { x, y: HEIGHT - 8, "text-anchor": "middle" }, tick));
        }
        parts.push(element("text", { x: LEFT, y: 14 }, this.title));
        let right = WIDTH - RIGHT;
        [...this.lines].forEach(([name, line], i) => {
            const colour = COLOURS[i % COLOURS.length];
            const path = line.map(([x, y]) => place(x, y).map((v) => v.toFixed(1)).join(",")).join(" ");
            parts.push(
                element("polyline", { points: path, fill: "none", stroke: colour, "stroke-width": 1.8 }),
                element("text", { x: right, y: 14, "text-anchor": "end", style: `fill: ${colour}` }, name),
            );
            right -= 14 + 7 * name.length;
        });
        this.svg.replaceChildren(...parts);
    }
}

// A figure of grey pixels, given as base64 of a byte each.
export function image({ pixels, width, text }) {
    const bytes = Uint8Array.from(atob(pixels), (c) => c.charCodeAt(0));
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = bytes.length / width;
    const context = canvas.getContext("2d");
    const data = context.createImageData(canvas.width, canvas.height);
    bytes.forEach((v, i) => data.data.set([v, v, v, 255], 4 * i));
    context.putImageData(data, 0, 0);
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = text;
    figure.append(canvas, caption);
    return figure;
}
