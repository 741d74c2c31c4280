/** What `-o` takes. */
export const FORMATS = ["table", "wide", "json", "jsonl", "yaml", "name", "csv", "tsv", "raw"] as const;
export type Format = (typeof FORMATS)[number];
