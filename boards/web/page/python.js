// The page's side of worker.js: one job after the other.

export class Python {
    // state(text): called when it changes. `folder`: where code that is given from now on works.
    constructor(state) {
        this.state = state;
        this.jobs = [];
        this.last = 0;
        this.folder = "/";
        this.start();
    }

    start() {
        this.ready = false;
        this.state("loading");
        this.worker = new Worker("worker.js", { type: "module" });
        this.worker.onmessage = ({ data }) => this.take(data);
        this.worker.onerror = (event) => this.state(`failed: ${event.message}`);
    }

    // Ends what runs; jobs that wait are given up.
    restart() {
        this.worker.terminate();
        const jobs = this.jobs;
        this.jobs = [];
        for (const job of jobs) {
            job.sink.text("Python was started anew.\n", true);
            job.end(false);
        }
        this.start();
    }

    // Runs code; sink has text(text, isError) and show(object). Resolves to whether it went well.
    run(code, sink, line = false) {
        return new Promise((end) => {
            this.jobs.push({ id: ++this.last, code, line, folder: this.folder, sink, end, good: true });
            if (this.ready && this.jobs.length === 1) {
                this.next();
            }
        });
    }

    next() {
        if (this.jobs.length) {
            const { id, code, line, folder, sink } = this.jobs[0];
            this.state("running");
            sink.begin?.();
            this.worker.postMessage({ id, code, line, folder });
        } else {
            this.state("ready");
        }
    }

    take(data) {
        const job = this.jobs[0];
        if (data.type === "ready") {
            this.ready = true;
            this.next();
        } else if (data.type === "failed") {
            this.state(`failed: ${data.text}`);
        } else if (job && job.id === data.id) {
            if (data.type === "text") {
                job.good &&= !data.error;
                job.sink.text(data.text, data.error);
            } else if (data.type === "show") {
                job.sink.show(data.show);
            } else {
                this.jobs.shift();
                job.end(job.good);
                this.next();
            }
        }
    }
}
