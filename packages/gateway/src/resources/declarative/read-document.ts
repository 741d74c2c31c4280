import { DeclarativeDocument } from "@fairway/wire";
import type * as z from "zod/mini";
import { Refusal } from "../../lib/refusal.ts";

/** Returns `document_invalid` with the name of the document, or its position if it has no name. */
export function unusable(name: string, reason: string): Refusal {
  return new Refusal("document_invalid", { values: { name, reason } });
}

/** Returns what to throw: a refusal becomes one of the document, unless it is one already. */
export function blameDocument(name: string, thrown: unknown): unknown {
  if (!(thrown instanceof Refusal) || thrown.key === "document_invalid") return thrown;
  return new Refusal("document_invalid", { values: { name, reason: thrown.message }, cause: thrown });
}

/** Returns why a document is refused, for readers who know which document it is. */
export function readReason({ key, values, message }: Refusal): string {
  const reason = key === "document_invalid" ? values?.["reason"] : undefined;
  return typeof reason === "string" ? reason : message;
}

/** Reads a document; throws `document_invalid` with the first invalid member. */
export function readDocument(input: unknown, at: number): DeclarativeDocument {
  const parsed = DeclarativeDocument.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = (input as { metadata?: { name?: unknown } } | null)?.metadata?.name;
  throw unusable(typeof name === "string" ? name.slice(0, 64) : `${at + 1}`, issue ? describeIssue(issue) : "");
}

/** Returns a fault of a document as a sentence that names the field and says what it takes. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join(".");
  return `${path === "" ? "document" : path}: ${describeFault(issue)}`;
}

function describeFault(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "unrecognized_keys":
      return `has no field ${issue.keys.join(", ")}`;
    case "invalid_type":
      return `must be ${ARTICLES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "too_small":
      return `must ${describeSize(issue.origin, "not be below", "have at least")} ${issue.minimum}${UNITS[issue.origin] ?? ""}`;
    case "too_big":
      return `must ${describeSize(issue.origin, "not be above", "have at most")} ${issue.maximum}${UNITS[issue.origin] ?? ""}`;
    case "invalid_format":
      return "does not have the form that this field takes";
    default:
      return issue.message;
  }
}

function describeSize(origin: string, ofNumber: string, ofOthers: string): string {
  return origin in UNITS ? ofOthers : ofNumber;
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: "a text",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  array: "a list",
  object: "an object",
  record: "an object",
};
const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " entries" };

/** Refuses a Secret to write to outside a cluster. */
export function checkPlace({ kind, metadata, spec }: DeclarativeDocument, isCluster: boolean): void {
  if (kind !== "Token" || !spec.writeSecretTo || isCluster) return;
  throw unusable(
    metadata.name,
    "spec.writeSecretTo is for resources of a cluster: leave it out, and read the key in the console",
  );
}
