// The page: documents of text and cells, one Python for all of them, a console.
import { Cell } from "./cell.js";
import { Console } from "./console.js";
import { Python } from "./python.js";

const state = document.getElementById("state");
const runAll = document.getElementById("run-all");
const python = new Python((text) => {
    state.textContent = text;
});
const view = document.getElementById("document");
const nav = document.getElementById("documents");
let cells = [];

function show(documents, name) {
    const chosen = documents.find((d) => d.name === name) ?? documents[0];
    cells = [];
    python.folder = chosen.folder;
    const nodes = chosen.parts.map((part) => {
        if (part.code !== undefined) {
            cells.push(new Cell(python, part.code));
            return cells.at(-1).node;
        }
        const node = document.createElement("div");
        node.innerHTML = part.html; // of our own build
        return node;
    });
    view.replaceChildren(...nodes);
    view.scrollTop = 0;
    for (const link of nav.children) {
        link.toggleAttribute("aria-current", link.hash === `#${chosen.name}`);
    }
    document.title = `${chosen.title} - microzo`;
}

// Stops at a cell that fails; resolves to how many went well.
async function runEverything() {
    runAll.disabled = true;
    let good = 0;
    for (const cell of cells) {
        if (!(await cell.run())) {
            break;
        }
        ++good;
    }
    runAll.disabled = false;
    return good;
}

const documents = await (await fetch("documents.json")).json();
for (const { name, title } of documents) {
    const link = document.createElement("a");
    link.href = `#${name}`;
    link.textContent = title;
    nav.append(link);
}
const follow = () => show(documents, decodeURIComponent(location.hash.slice(1)));
addEventListener("hashchange", follow);
follow();
runAll.onclick = runEverything;
document.getElementById("restart").onclick = () => python.restart();
const lines = new Console(python);

// For tests, and for who looks at the page by hand.
globalThis.microzo = { python, runEverything, cells: () => cells, enter: (line) => lines.enter(line) };
