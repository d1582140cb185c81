/* Worker of past.js: computes the attribution measures, which takes a while for a long text. */
import { buildModels, gradientNorms, lossAt, lossIncreases } from "./past_measures.js";

let models = {};

/* A first message has the weights of all kinds. Later ones ask for { key, indices, place, measure }; answers have the key. */
onmessage = ({ data }) => {
  if (data.weights) return (models = buildModels(data.weights, data.kinds));
  const { key, indices, place, measure } = data;
  const valuesOf = measure === "gradient" ? gradientNorms : lossIncreases;
  const results = Object.entries(models).map(([kind, model]) => [
    kind,
    { loss: lossAt(model, indices, place), values: valuesOf(model, indices, place) },
  ]);
  postMessage({ key, results: Object.fromEntries(results) });
};
