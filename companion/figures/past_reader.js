/* The networks that past.js asks, beside the page's own thread: a text that is read again without each of its characters takes
 * a while. */
import { gradientsAt, lossAt, modelsOf, reach, takenAwayAt } from "./past_measures.js";

let models = {};

/* weights: of the networks of these kinds, once. key, indices, place, measure: a question; the answer has its key. */
onmessage = ({ data }) => {
  if (data.weights) return (models = modelsOf(data.weights, data.kinds));
  const { key, indices, place, measure } = data;
  const ask = measure === "gradient" ? gradientsAt : takenAwayAt;
  const found = Object.entries(models).map(([kind, model]) => {
    const values = ask(model, indices, place);
    return [
      kind,
      { loss: lossAt(model, indices, place), values, reaches: [0.5, 0.9].map((share) => reach(values, share)) },
    ];
  });
  postMessage({ key, found: Object.fromEntries(found) });
};
