/* Python for a page: begins a worker that runs cells, hands it their code, and ends it when it is to stop. */

const here = new URL(".", import.meta.url);

/* onProgress(done, total, what) hears how many bytes are there. Returns the kernel: `ready` is a promise that is kept when
 * cells can run; run(source, { cell, onOutput }) promises { status: "ok" or "error" } and hands on each output, a message as
 * Jupyter's; change(figure, values) tells Python what a reader has moved; stop() ends everything, and begins anew. */
export const start = ({ base, onProgress }) => {
  let worker = null,
    current = null,
    runs = 0;

  const begin = async () => {
    const answer = await fetch(new URL("manifest.json", base));
    if (!answer.ok) throw new Error(`manifest.json: ${answer.status}`);
    const { files, size } = await answer.json();
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
        else if ("output" in data) heard(data.output);
        else if (data.done === current?.number) finish(null, data.good);
      };
      own.postMessage({ start: files });
    });
  };

  const heard = (output) => {
    if (current) current.onOutput(output);
    else late?.(output);
  };
  let late = null; // what comes between cells, as from a figure that a reader moves, is the last cell's

  const finish = (error, good) => {
    const { resolve, reject } = current ?? {};
    current = null;
    if (error) reject?.(error);
    else resolve?.({ status: good ? "ok" : "error" });
  };

  const kernel = {
    ready: begin(),
    async run(source, { onOutput }) {
      await kernel.ready; // after a stop it is not yet
      return new Promise((resolve, reject) => {
        late = onOutput;
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
