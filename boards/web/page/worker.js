// MicroPython in a worker of its own, so that the page stays awake while a network trains.
// Takes {id, code, line, folder}: code of a cell, or a line of the console, and where it works. Sends {id, type, ...}: "text",
// "show" (what page.py gives), "done"; "ready" when Python is there.
import { loadMicroPython } from "./micropython.mjs";

const HEAP = 16 << 20; // bytes; it grows

let id = 0;
let text = [];

function flush() {
    if (text.length) {
        postMessage({ id, type: "text", text: new TextDecoder().decode(new Uint8Array(text)) });
        text = [];
    }
}

function put(bytes) {
    for (const byte of bytes) {
        text.push(byte);
        if (byte === 10) {
            flush();
        }
    }
}

globalThis.microzoShow = (json) => {
    flush();
    postMessage({ id, type: "show", show: JSON.parse(json) });
};

function write(python, files) {
    for (const [name, { text, base64 }] of Object.entries(files)) {
        python.FS.mkdirTree(name.slice(0, name.lastIndexOf("/")) || "/");
        const data = text ?? Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        python.FS.writeFile(name, data);
    }
}

let at = "";

function run(python, { code, line, folder }) {
    try {
        if (folder !== at) {
            python.FS.mkdirTree(folder);
            python.runPython(`import os\nos.chdir('${folder}')`);
            at = folder;
        }
        if (line) {
            python.globals.set("_line", code);
            code = "exec(compile(_line, '<stdin>', 'single'))";
        }
        python.runPython(code);
    } catch (error) {
        flush();
        postMessage({ id, type: "text", text: `${error.message ?? error}`.trim() + "\n", error: true });
    }
    flush();
}

async function start() {
    const files = fetch("files.json").then((answer) => answer.json());
    const python = await loadMicroPython({
        heapsize: HEAP,
        linebuffer: false,
        stdout: put,
        stderr: put,
    });
    write(python, await files);
    onmessage = ({ data }) => {
        id = data.id;
        run(python, data);
        postMessage({ id, type: "done" });
    };
    postMessage({ type: "ready" });
}

start().catch((error) => postMessage({ type: "failed", text: `${error}` }));
