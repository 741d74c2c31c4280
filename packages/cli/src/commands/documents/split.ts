import type { DeclarativeDocument } from "@fairway/wire";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CliError, readErrorCode, EXIT } from "../../core/exit.ts";
import { documentText } from "./files.ts";

type Named = Pick<DeclarativeDocument, "metadata"> & { readonly kind: string };

/** Writes a file for each document, such as `channel-openai.yaml`. Returns their names. */
export function writeDocuments(folder: string, documents: readonly Named[]): string[] {
  const files = documents.map((one) => ({ name: fileName(one), text: documentText(one) }));
  const twice = files.find(({ name }, at) => files.findIndex((other) => other.name === name) !== at);
  if (twice) throw new CliError(`two documents would be written to ${twice.name}`, EXIT.failure, "rename one of them");
  try {
    mkdirSync(folder, { recursive: true });
    for (const { name, text } of files) writeFileSync(join(folder, name), `${text.trimEnd()}\n`);
  } catch (cause) {
    throw new CliError(
      `--split-dir: ${folder} cannot be written (${readErrorCode(cause)})`,
      EXIT.usage,
      "name another folder",
    );
  }
  return files.map(({ name }) => name);
}

function fileName({ kind, metadata }: Named): string {
  const name = metadata.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, "-")
    .replaceAll(/^[.-]+/g, "");
  return `${kind.toLowerCase()}-${name}.yaml`;
}
