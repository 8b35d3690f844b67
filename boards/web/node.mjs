// node node.mjs MJS SCRIPT FOLDER... -- ARGUMENTS...: runs a script on MicroPython's WebAssembly port.
// Each FOLDER is copied into its file system: HOST=NAME there. What the script prints goes to stdout.
import { createRequire } from "module";
import fs from "fs";
import path from "path";

const [mjs, script, ...rest] = process.argv.slice(2);
const folders = rest.slice(0, rest.indexOf("--"));
const args = rest.slice(rest.indexOf("--") + 1);

// What emcc 3.1.6 expects of node, which it takes for a script of the old kind without fetch.
globalThis.require = createRequire(import.meta.url);
globalThis.__dirname = path.dirname(path.resolve(mjs));
globalThis.fetch = undefined;

const { loadMicroPython } = await import(path.resolve(mjs));
const python = await loadMicroPython({
    heapsize: 8 << 20,
    linebuffer: true,
    stdout: (line) => process.stdout.write(line + "\n"),
});

function copy(host, name) {
    if (fs.statSync(host).isDirectory()) {
        python.FS.mkdirTree(name);
        for (const child of fs.readdirSync(host)) {
            copy(path.join(host, child), `${name}/${child}`);
        }
    } else {
        python.FS.writeFile(name, fs.readFileSync(host));
    }
}

for (const folder of folders) {
    copy(...folder.split("="));
}
python.FS.writeFile("/args.json", JSON.stringify(args));
try {
    python.runPython(
        "import json, sys\nwith open('/args.json') as f:\n    sys.argv[:] = [''] + json.load(f)\n" +
            fs.readFileSync(script, "utf8"),
    );
} catch (error) {
    process.stdout.write(`${error}\n`);
    process.exitCode = 1;
}
