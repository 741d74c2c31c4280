/** Values of `-o`. */
export const FORMATS = ["table", "wide", "json", "jsonl", "yaml", "name", "csv", "tsv", "raw"] as const;
type Plain = (typeof FORMATS)[number];
/** A format with a template after the equals sign. */
export type Templated = `jsonpath=${string}` | `custom-columns=${string}`;
export type Format = Plain | Templated;

/** Undefined if the text is not a format. */
export function checkedFormat(text: string): Format | undefined {
  return isPlain(text) || isTemplated(text) ? text : undefined;
}

function isPlain(text: string): text is Plain {
  return (FORMATS as readonly string[]).includes(text);
}

export function isTemplated(text: string): text is Templated {
  return /^(jsonpath|custom-columns)=./s.test(text);
}
