import { isObject } from "../../lib/text/json.ts";

/** A text that is not a list of documents; the message has the position. */
export class TextProblem extends Error {}

/** Reads the documents of a text in YAML or JSON: one, several separated by `---`, or a list. */
export async function readDocuments(text: string): Promise<unknown[]> {
  const { parseAllDocuments } = await import("yaml");
  const documents: unknown[] = [];
  for (const one of parseAllDocuments(text)) {
    const [fault] = one.errors;
    if (fault) throw new TextProblem(fault.message);
    // Aliases of aliases could grow without bound.
    const value: unknown = one.toJS({ maxAliasCount: 0 });
    if (value === null || value === undefined) continue;
    documents.push(...unwrapped(value));
  }
  return documents;
}

/** `fairway export -o json` writes a list; requests have it under `documents`. */
function unwrapped(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  if (isObject(value) && Array.isArray(value["documents"])) return value["documents"] as unknown[];
  return [value];
}
