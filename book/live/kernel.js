/* The page's side of Python: starts a worker that runs cells, sends it their code, and terminates it to stop. */

const here = new URL(".", import.meta.url);

/* Start Python and return the kernel. files: name → bytes of the files beside this one; size: their sum. reload: names of
 * files that arrived damaged before, so that no cache may answer. onProgress(done, total, name): called with the bytes
 * loaded so far and a file's name.
 * kernel.ready: promise, resolved when cells can run. kernel.run(source, { cell, onOutput }): promise of { status: "ok" or
 * "error" }; onOutput gets each output as a message of Jupyter. kernel.change(figure, values): tell Python what a reader has
 * changed in a figure. kernel.write(name, bytes): give Python a file. kernel.stop(): terminate Python. */
export const start = ({ files, size, reload, onProgress }) => {
  const worker = new Worker(new URL("worker.js", here), { type: "module" });
  let current = null,
    lastOnOutput = null, // outputs between runs, as from a figure that a reader changes, belong to the last cell
    runs = 0,
    failStart;

  const finish = (error, good) => {
    const { resolve, reject } = current ?? {};
    current = null;
    if (error) reject?.(error);
    else resolve?.({ status: good ? "ok" : "error" });
  };

  const fail = (error) => {
    failStart(error);
    finish(error);
  };

  const ready = new Promise((resolve, reject) => {
    failStart = reject;
    worker.onerror = ({ message }) => fail(new Error(message ?? "worker.js"));
    worker.onmessage = ({ data }) => {
      if ("loaded" in data) onProgress(Math.min(data.loaded[0], size), size, data.loaded[1]);
      else if ("ready" in data) resolve();
      else if ("failed" in data) fail(Object.assign(new Error(data.failed), { reason: data.reason }));
      else if ("output" in data) (current?.onOutput ?? lastOnOutput)?.(data.output);
      else if (data.done === current?.number) finish(null, data.good);
    };
  });
  ready.catch(() => {}); // a start that is stopped has no listener
  worker.postMessage({ start: files, reload, language: document.documentElement.lang });

  return {
    ready,
    run: (source, { onOutput }) =>
      new Promise((resolve, reject) => {
        lastOnOutput = onOutput;
        current = { number: ++runs, onOutput, resolve, reject };
        worker.postMessage({ run: runs, source });
      }),
    change: (figure, values) => worker.postMessage({ change: [figure, values] }),
    write: (name, bytes) => worker.postMessage({ write: [name, bytes] }),
    stop() {
      worker.terminate();
      fail(new Error("stopped"));
    },
  };
};
