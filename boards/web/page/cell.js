// A cell: code that can be changed and run, and what it gives.
import { image, Plot } from "./plot.js";

const MOST = 400; // lines that are shown
// What a Step prints (device/microzo/train/progress.py).
const STEP = /^step (\d+)\/\d+ loss ([\d.]+).*\(([\w-]+)\)/;

export class Output {
    constructor(node) {
        this.node = node;
        this.clear();
    }

    clear() {
        this.plots = new Map();
        this.count = 0;
        this.pictures = document.createElement("div");
        this.pictures.className = "pictures";
        this.node.replaceChildren(this.pictures);
        this.pre = null;
        this.steps = 0;
    }

    text(text, error) {
        if (!this.pre) {
            this.pre = document.createElement("pre");
            this.node.append(this.pre);
        }
        const span = document.createElement("span");
        span.textContent = text;
        span.className = error ? "error" : "";
        this.pre.append(span);
        if (++this.count > MOST) {
            this.pre.firstChild.remove();
        }
        this.pre.scrollTop = this.pre.scrollHeight;
        const step = STEP.exec(text);
        if (step) {
            this.show({ kind: "point", plot: "loss of each step", line: step[3], x: ++this.steps, y: +step[2] });
        }
    }

    show(what) {
        if (what.kind === "image") {
            this.pictures.append(image(what));
            return;
        }
        if (!this.plots.has(what.plot)) {
            const plot = new Plot(what.plot);
            this.plots.set(what.plot, plot);
            this.pictures.append(plot.svg);
        }
        this.plots.get(what.plot).add(what.line, what.x, what.y);
    }
}

export class Cell {
    constructor(python, code) {
        this.python = python;
        this.node = document.createElement("div");
        this.node.className = "cell";
        this.area = document.createElement("textarea");
        this.area.value = code;
        this.area.spellcheck = false;
        this.area.setAttribute("aria-label", "Python code");
        this.button = document.createElement("button");
        this.button.textContent = "Run";
        this.button.title = "Shift+Enter";
        this.time = document.createElement("span");
        this.time.className = "time";
        const bar = document.createElement("div");
        bar.className = "bar";
        bar.append(this.button, this.time);
        const out = document.createElement("div");
        out.className = "out";
        this.node.append(this.area, bar, out);
        this.output = new Output(out);
        this.button.onclick = () => this.run();
        this.area.oninput = () => this.fit();
        this.area.onkeydown = (event) => this.key(event);
        this.fit();
    }

    fit() {
        this.area.rows = Math.max(2, this.area.value.split("\n").length);
    }

    key(event) {
        if (event.key === "Enter" && (event.shiftKey || event.ctrlKey)) {
            event.preventDefault();
            this.run();
        } else if (event.key === "Tab" && !event.shiftKey) {
            event.preventDefault();
            this.area.setRangeText("    ", this.area.selectionStart, this.area.selectionEnd, "end");
        }
    }

    // Resolves to whether it went well.
    async run() {
        let begun = 0;
        this.output.clear();
        this.button.disabled = true;
        this.time.textContent = "waits";
        const good = await this.python.run(this.area.value, {
            begin: () => {
                begun = Date.now();
                this.node.classList.add("running");
                this.time.textContent = "runs";
            },
            text: (text, error) => this.output.text(text, error),
            show: (what) => this.output.show(what),
        });
        this.node.classList.remove("running");
        this.button.disabled = false;
        this.time.textContent = begun ? `${((Date.now() - begun) / 1000).toFixed(1)} s` : "";
        return good;
    }
}
