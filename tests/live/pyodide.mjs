/* Runs notebooks with the Python of the pages, without a browser: node pyodide.mjs FOLDER NOTEBOOK…
 * FOLDER is a site's live/<version>/. Each notebook has an interpreter of its own. A line of JSON is printed for each cell:
 * { notebook, cell, seconds, outputs }. */

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { writeFileSync, existsSync } from "node:fs";

const [folder, ...notebooks] = process.argv.slice(2);
const wasm = `${folder}/pyodide.asm.wasm`;
if (!existsSync(wasm)) writeFileSync(wasm, gunzipSync(await readFile(`${wasm}.gz`)));
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));

for (const notebook of notebooks) {
  const python = await loadPyodide({
    indexURL: `${folder}/`,
    env: { HOME: "/home/pyodide", MPLBACKEND: "module://matplotlib_inline.backend_inline", MPLCONFIGDIR: "/home/pyodide/.matplotlib" },
  });
  const extractDir = python.runPython("import site; site.getsitepackages()[0]");
  for (const name of ["packages.zip", "book.zip"])
    python.unpackArchive(new Uint8Array(await readFile(`${folder}/${name}`)), "zip", { extractDir });
  let outputs = [];
  const emit = (output) => outputs.push(JSON.parse(output));
  const session = python.runPython(`
import importlib, json
importlib.invalidate_caches()
from cells import Session
lambda emit: Session(lambda output: emit(json.dumps(output)))
`)(emit);
  const { cells } = JSON.parse(await readFile(notebook, "utf-8"));
  for (const cell of cells.filter((one) => one.cell_type === "code")) {
    outputs = [];
    const began = performance.now();
    session.run([cell.source].flat().join(""));
    console.log(JSON.stringify({ notebook, cell: cell.id, seconds: (performance.now() - began) / 1000, outputs }));
  }
}
