/* Worker of past.js: computes the attribution measures, which takes a while for a long text. */
import { gradientNorms, lossAt, buildModels, reach, lossIncreases } from "./past_measures.js";

let models = {};

/* A first message has the weights of all kinds. Later ones ask for { key, indices, place, measure }; answers have the key. */
onmessage = ({ data }) => {
  if (data.weights) return (models = buildModels(data.weights, data.kinds));
  const { key, indices, place, measure } = data;
  const valuesOf = measure === "gradient" ? gradientNorms : lossIncreases;
  const results = Object.entries(models).map(([kind, model]) => {
    const values = valuesOf(model, indices, place);
    return [
      kind,
      { loss: lossAt(model, indices, place), values, reaches: [0.5, 0.9].map((share) => reach(values, share)) },
    ];
  });
  postMessage({ key, results: Object.fromEntries(results) });
};
