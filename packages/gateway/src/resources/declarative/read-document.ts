import { DeclarativeDocument } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";

/** Returns `document_invalid` with the name of the document, or its position if it has no name. */
export function unusable(name: string, reason: string): Refusal {
  return new Refusal("document_invalid", { values: { name, reason } });
}

/** Reads a document; throws `document_invalid` with the first invalid member. */
export function readDocument(input: unknown, at: number): DeclarativeDocument {
  const parsed = DeclarativeDocument.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = (input as { metadata?: { name?: unknown } } | null)?.metadata?.name;
  throw unusable(
    typeof name === "string" ? name.slice(0, 64) : `${at + 1}`,
    `${issue?.path.map(String).join(".") ?? ""}: ${issue?.code === "unrecognized_keys" ? `has no field ${issue.keys.join(", ")}` : (issue?.message ?? "")}`,
  );
}

/** Refuses a Secret to write to outside a cluster. */
export function checkPlace({ kind, metadata, spec }: DeclarativeDocument, isCluster: boolean): void {
  if (kind !== "Token" || !spec.writeSecretTo || isCluster) return;
  throw unusable(
    metadata.name,
    "spec.writeSecretTo is for resources of a cluster: leave it out, and read the key in the console",
  );
}
