// Search without a server: a browser starts no Worker for a page that is a local file. This class
// takes its place there; the worker's script runs in a hidden frame.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      this.waiting = [];
      this.inside = null;
      inside.postMessage = (data) => {
        this.dispatchEvent(new MessageEvent("message", {data}));
      };
      inside.importScripts = (...addresses) =>
        Promise.all(addresses.map((one) => this.load(inside, one)));
      this.load(inside, address).then(() => {
        this.inside = inside;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    load(inside, address) {
      return new Promise((loaded, failed) => {
        const script = inside.document.createElement("script");
        script.src = new URL(address, location.href);
        script.onload = loaded;
        script.onerror = failed;
        inside.document.body.appendChild(script);
      });
    }

    postMessage(data) {
      if (this.inside === null) {
        this.waiting.push(data);
      } else {
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", {data}));
      }
    }

    terminate() {
      this.inside = null;
    }
  };
}
