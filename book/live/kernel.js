/* The page's side of Python: starts a worker that runs cells, sends it their code, and terminates it to stop. */

const here = new URL(".", import.meta.url);

/* Start Python and return the kernel. onProgress(done, total, name): called with the bytes loaded so far and a file's name.
 * kernel.ready: promise, resolved when cells can run. kernel.run(source, { cell, onOutput }): promise of { status: "ok" or
 * "error" }; onOutput gets each output as a message of Jupyter. kernel.change(figure, values): tell Python what a reader has
 * changed in a figure. kernel.stop(): terminate Python and start it again. */
export const start = ({ base, onProgress }) => {
  let worker = null,
    current = null,
    runs = 0;

  const begin = async () => {
    const response = await fetch(new URL("manifest.json", base));
    if (!response.ok) throw new Error(`manifest.json: ${response.status}`);
    const { files, size } = await response.json();
    return new Promise((resolve, reject) => {
      const own = (worker = new Worker(new URL("worker.js", here), { type: "module" }));
      const fail = (message) => {
        const error = new Error(message);
        reject(error);
        if (own === worker) finish(error);
      };
      own.onerror = (event) => fail(event.message ?? "worker.js");
      own.onmessage = ({ data }) => {
        if (own !== worker) return;
        if ("loaded" in data) onProgress(Math.min(data.loaded[0], size), size, data.loaded[1]);
        else if ("ready" in data) resolve();
        else if ("failed" in data) fail(data.failed);
        else if ("output" in data) deliver(data.output);
        else if (data.done === current?.number) finish(null, data.good);
      };
      own.postMessage({ start: files, language: document.documentElement.lang });
    });
  };

  const deliver = (output) => {
    if (current) current.onOutput(output);
    else lastOnOutput?.(output);
  };
  let lastOnOutput = null; // outputs between runs, as from a figure that a reader changes, belong to the last cell

  const finish = (error, good) => {
    const { resolve, reject } = current ?? {};
    current = null;
    if (error) reject?.(error);
    else resolve?.({ status: good ? "ok" : "error" });
  };

  const kernel = {
    ready: begin(),
    async run(source, { onOutput }) {
      await kernel.ready; // after a stop Python starts again
      return new Promise((resolve, reject) => {
        lastOnOutput = onOutput;
        current = { number: ++runs, onOutput, resolve, reject };
        worker.postMessage({ run: runs, source });
      });
    },
    change: (figure, values) => worker.postMessage({ change: [figure, values] }),
    stop() {
      worker?.terminate();
      finish(new Error("stopped"));
      kernel.ready = begin();
    },
  };
  return kernel;
};
