/* Stand-in for the worker in tests of kernel.js: it outputs each word of a cell, and repeats the last one for ever if it
 * is "on". */

self.onmessage = ({ data }) => {
  if ("start" in data) {
    self.postMessage({ loaded: [3, "numpy"] });
    self.postMessage(data.start.lost ? { failed: "numpy: 404" } : { ready: true });
  } else if ("change" in data) self.postMessage({ output: data.change });
  else {
    const words = data.source.split(" ");
    for (const word of words) self.postMessage({ output: word });
    if (words.at(-1) === "on") setInterval(() => self.postMessage({ output: "on" }), 1);
    else self.postMessage({ done: data.run, good: words.at(-1) !== "bad" });
  }
};
