/* Read a .safetensors file in float16: { weights, metadata }. weights: name → vector or rows, in float64. */
export const readSafetensors = (buffer) => {
  const view = new DataView(buffer);
  const length = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const { __metadata__: metadata, ...tensors } = header;
  const weights = {};
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(tensors)) {
    if (dtype !== "F16") throw new TypeError(`${name} is ${dtype}, not F16`);
    const start = 8 + length + data_offsets[0];
    const row = (offset, size) =>
      Float64Array.from({ length: size }, (_, k) => float16(view.getUint16(start + 2 * (offset + k), true)));
    const [rows, columns] = shape;
    weights[name] =
      columns === undefined ? row(0, rows) : Array.from({ length: rows }, (_, r) => row(r * columns, columns));
  }
  return { weights, metadata };
};

const float16 = (bits) => {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
};
