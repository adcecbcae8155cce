// Browsers start no Worker on a page that is opened from a folder: there its script runs in a hidden frame.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((start) => frame.addEventListener("ready", start));
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const { document: page } = this.inside;
      page.open();
      page.write(`<script src="${address}"></script><script>frameElement.dispatchEvent(new Event("ready"))</script>`);
      page.close();
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
