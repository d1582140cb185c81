/* Stand-in for the kernel in tests of the page: it knows a few forms of lines, and logs the calls in window.asked. */

const decode = (type, text) => (type.endsWith("json") ? JSON.parse(text) : text.replaceAll("\\n", "\n"));
const SERIES = "application/vnd.unrolled.series+json";
const FORMS = [
  [/^print\((\d+) lines\)$/, (n) => [{ output_type: "stream", name: "stdout", text: "a line\n".repeat(+n) }]],
  [/^print\("(.*)"\)$/, (text) => [{ output_type: "stream", name: "stdout", text: `${text}\n` }]],
  [/^say (.*)$/, (text) => [JSON.parse(text)]],
  [
    /^show\(.*\)$/,
    () => window.messages.map((message) => ({ output_type: "display_data", data: { [SERIES]: message } })),
  ],
  [
    /^show (\S+) (.*)$/,
    (type, text) => [{ output_type: "display_data", data: { [type]: decode(type, text) }, metadata: {} }],
  ],
];

export const start = ({ onProgress }) => {
  const log = (window.asked ??= []);
  let end = null,
    stopped = false;
  const begin = async () => {
    log.push("start");
    for (let k = 1; k <= 4; k++) {
      await new Promise((done) => setTimeout(done, window.slowly ?? 0));
      if (stopped) throw new Error("stopped");
      onProgress(k * 2e6, 8e6, "numpy");
    }
    if (window.unreachable) throw new Error("numpy.whl");
  };
  const kernel = {
    ready: begin(),
    async run(source, { cell, onOutput }) {
      log.push(`run ${cell}`);
      await new Promise((done) => setTimeout(done, 1));
      for (const line of source.split("\n")) {
        if (line === "crash") throw new Error("out of memory");
        if (line.startsWith("show(")) log.push(line);
        if (line === "while True:" || (line.startsWith("show(") && window.endless))
          return new Promise((_resolve, reject) => (end = reject));
        if (line.startsWith("raise ")) {
          const traceback = ["\x1b[0;31mValueError\x1b[0m: no", `\x1b[0;32m----> 1\x1b[0m ${line}`];
          onOutput({ output_type: "error", ename: "ValueError", evalue: "no", traceback });
          return { status: "error" };
        }
        for (const [form, outputs] of FORMS) {
          const match = form.exec(line);
          if (match) for (const output of outputs(...match.slice(1))) onOutput(output);
        }
      }
      return { status: "ok" };
    },
    write: (name, bytes) => log.push(`write ${name} ${new TextDecoder().decode(bytes).length}`),
    change: (id, state) => log.push(`change ${id} ${JSON.stringify(state)}`),
    stop() {
      log.push("stop");
      stopped = true;
      end?.(new Error("stopped"));
    },
  };
  return kernel;
};
