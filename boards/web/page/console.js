// The console: a line after the other, as at the REPL of a board.

export class Console {
    constructor(python) {
        this.python = python;
        this.out = document.getElementById("console-out");
        this.input = document.getElementById("console-in");
        this.prompt = document.getElementById("prompt");
        this.history = [];
        this.at = 0;
        this.block = []; // lines of a statement that goes on
        this.input.onkeydown = (event) => this.key(event);
        this.input.onpaste = (event) => this.paste(event);
    }

    key(event) {
        if (event.key === "Enter") {
            this.enter(this.input.value);
            this.input.value = "";
        } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
            event.preventDefault();
            const step = event.key === "ArrowUp" ? -1 : 1;
            this.at = Math.max(0, Math.min(this.history.length, this.at + step));
            this.input.value = this.history[this.at] ?? "";
        } else if (event.key === "Tab") {
            event.preventDefault();
            this.input.setRangeText("    ", this.input.selectionStart, this.input.selectionEnd, "end");
        }
    }

    paste(event) {
        const lines = event.clipboardData.getData("text").split("\n");
        if (lines.length > 1) {
            event.preventDefault();
            lines[0] = this.input.value + lines[0];
            this.input.value = lines.pop();
            lines.forEach((line) => this.enter(line));
        }
    }

    write(text, error) {
        const span = document.createElement("span");
        span.textContent = text;
        span.className = error ? "error" : "";
        this.out.append(span);
        this.out.scrollTop = this.out.scrollHeight;
    }

    // Resolves when the statement has run, at once if it goes on.
    async enter(line) {
        this.write(`${this.block.length ? "..." : ">>>"} ${line}\n`);
        if (line.trim()) {
            this.history.push(line);
        }
        this.at = this.history.length;
        this.block.push(line);
        const code = this.block.join("\n");
        const open = goesOn(code) || (this.block.length > 1 && line.trim() !== "");
        this.prompt.textContent = open ? "..." : ">>>";
        if (open) {
            return;
        }
        this.block = [];
        if (code.trim()) {
            await this.python.run(`${code}\n`, {
                text: (text, error) => this.write(text, error),
                show: () => {},
            }, true);
        }
    }
}

// Whether a statement has a block, or a bracket that is still open.
export function goesOn(code) {
    const bare = code.replace(/("|')(?:\\.|(?!\1).)*\1/g, "").replace(/#.*/g, "");
    const open = (bare.match(/[([{]/g) ?? []).length - (bare.match(/[)\]}]/g) ?? []).length;
    return open > 0 || bare.endsWith("\\") || (!code.includes("\n") && /:\s*$/.test(bare));
}
