/** Returns a number in plain decimal notation (`1e-3` becomes `0.001`); undefined if it is not a number. */
export function decimalText(source: string): string | undefined {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(source);
  if (!parts) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const digits = whole + fraction;
  if (digits === "") return undefined;
  const point = whole.length + Number(exponent);
  const padded = point > 0 ? digits.padEnd(point, "0") : "0".repeat(1 - point) + digits;
  const head = padded.slice(0, Math.max(point, 1)).replace(/^0+(?=\d)/, "");
  const tail = padded.slice(Math.max(point, 1)).replace(/0+$/, "");
  const plain = tail === "" ? head : `${head}.${tail}`;
  return sign === "-" && /[1-9]/.test(plain) ? `-${plain}` : plain;
}
