import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import { CliError, codeOf, EXIT } from "../../core/exit.ts";

const EXTENSIONS: readonly string[] = [".yaml", ".yml", ".json"];

/** The documents of files, of all files of folders, and of standard input, whose text is handed in for `-`. */
export async function readDocuments(
  paths: readonly string[],
  { isRecursive, stdin }: { readonly isRecursive: boolean; readonly stdin: () => Promise<string> },
): Promise<unknown[]> {
  const documents: unknown[] = [];
  for (const path of paths) {
    if (path === "-") documents.push(...parseDocuments(await stdin(), "standard input"));
    else for (const file of filesOf(path, isRecursive)) documents.push(...parseDocuments(textOf(file), file));
  }
  return documents;
}

function filesOf(path: string, isRecursive: boolean): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path, { recursive: isRecursive, encoding: "utf8" }).toSorted();
    const files = names.filter((name) => EXTENSIONS.includes(extname(name))).map((name) => join(path, name));
    if (files.length > 0) return files;
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw new CliError(`${path} holds no ${EXTENSIONS.join(", ")} file`, EXIT.usage, "name another folder, or add -R");
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(path: string, cause: unknown): CliError {
  return new CliError(`${path} cannot be read (${codeOf(cause)})`, EXIT.usage, "name a file or a folder of documents");
}

/**
 * Documents one by one, in a list, or in the `items` of an export or the `documents` of a call; in YAML, JSON, or JSON
 * line by line.
 */
export function parseDocuments(text: string, source: string): unknown[] {
  const lines = jsonLinesOf(text);
  if (lines) return documentsIn(lines, source);
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    // Only the first line: the others quote the file, which may hold keys.
    if (error) throw new CliError(`${source}: ${error.message.split("\n", 1)[0]?.replace(/:$/, "") ?? ""}`, EXIT.usage);
    const value: unknown = document.toJS();
    return value === null ? [] : documentsIn(value, source);
  });
}

/** Undefined where the text is anything else; a single line is YAML as well. */
function jsonLinesOf(text: string): unknown[] | undefined {
  const lines = text.trim().split("\n");
  if (lines.length < 2 || !lines.every((line) => /^\{.*\}\s*$/.test(line))) return undefined;
  try {
    return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    return undefined;
  }
}

function documentsIn(value: unknown, source: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => documentsIn(one, source));
  if (typeof value === "object" && value !== null) {
    const { items, documents = items } = value as { items?: unknown; documents?: unknown };
    if (Array.isArray(documents)) return documentsIn(documents, source);
    if ("kind" in value) return [value];
  }
  throw new CliError(
    `${source} holds something that is no document`,
    EXIT.usage,
    "a document has apiVersion, kind, metadata and spec: see `fairway export`",
  );
}

export function documentText(document: unknown): string {
  return `---\n${stringify(document, { lineWidth: 0 }).trimEnd()}`;
}
