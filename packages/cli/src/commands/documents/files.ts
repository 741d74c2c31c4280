import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, stringify } from "yaml";
import { CliError, readErrorCode, EXIT } from "../../core/exit.ts";

const EXTENSIONS: readonly string[] = [".yaml", ".yml", ".json"];

/** A document with the file that it came from. */
export interface Placed {
  readonly value: unknown;
  readonly source: string;
  /** Returns the line of a field, or of the nearest parent if it is absent. */
  findLine(path: readonly PropertyKey[]): number;
}

/** Reads the documents of files, of all files in folders, and of standard input; `-` stands for its text. */
export async function readDocuments(
  paths: readonly string[],
  { isRecursive, stdin }: { readonly isRecursive: boolean; readonly stdin: () => Promise<string> },
): Promise<Placed[]> {
  const documents: Placed[] = [];
  for (const path of paths) {
    if (path === "-") documents.push(...parseDocuments(await stdin(), "standard input"));
    else for (const file of listFiles(path, isRecursive)) documents.push(...parseDocuments(readText(file), file));
  }
  return documents;
}

function listFiles(path: string, isRecursive: boolean): string[] {
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

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(path: string, cause: unknown): CliError {
  return new CliError(
    `${path} cannot be read (${readErrorCode(cause)})`,
    EXIT.usage,
    "name a file or a folder of documents",
  );
}

/**
 * Parses documents one by one, in a list, in the `items` of an export or in the `documents` of a call; as YAML, JSON or
 * JSON lines.
 */
export function parseDocuments(text: string, source: string): Placed[] {
  const lines = parseJsonLines(text);
  if (lines) return lines.flatMap((line, at) => documentsIn(line, [], { source, findLine: () => at + 1 }));
  const lineCounter = new LineCounter();
  return parseAllDocuments(text, { lineCounter }).flatMap((document) => {
    const [error] = document.errors;
    // Only the first line: the others quote the file, which may hold keys.
    if (error) throw new CliError(`${source}: ${error.message.split("\n", 1)[0]?.replace(/:$/, "") ?? ""}`, EXIT.usage);
    const value: unknown = document.toJS();
    const findLine = (path: readonly PropertyKey[]) => lineCounter.linePos(findOffset(document.contents, path)).line;
    return value === null ? [] : documentsIn(value, [], { source, findLine });
  });
}

/** Undefined if the text is not JSON lines; a single line is also YAML. */
function parseJsonLines(text: string): unknown[] | undefined {
  const lines = text.trim().split("\n");
  if (lines.length < 2 || !lines.every((line) => /^\{.*\}\s*$/.test(line))) return undefined;
  try {
    return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    return undefined;
  }
}

function documentsIn(value: unknown, path: readonly PropertyKey[], place: Omit<Placed, "value">): Placed[] {
  const { source, findLine } = place;
  if (Array.isArray(value)) return value.flatMap((one: unknown, at) => documentsIn(one, [...path, at], place));
  if (typeof value === "object" && value !== null) {
    const { items, documents } = value as { items?: unknown; documents?: unknown };
    if (Array.isArray(documents)) return documentsIn(documents, [...path, "documents"], place);
    if (Array.isArray(items)) return documentsIn(items, [...path, "items"], place);
    if ("kind" in value) return [{ value, source, findLine: (inner) => findLine([...path, ...inner]) }];
  }
  throw new CliError(
    `${source}:${findLine(path)} holds something that is no document`,
    EXIT.usage,
    "a document has apiVersion, kind, metadata and spec: see `fairway explain`",
  );
}

/** Returns the offset of a field, or of the nearest parent. */
function findOffset(root: unknown, path: readonly PropertyKey[]): number {
  let node = root;
  let offset = readStartOffset(node);
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === part);
      if (!pair) return offset;
      offset = readStartOffset(pair.key);
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = readStartOffset(node);
    }
  }
  return offset;
}

function readStartOffset(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

export function documentText(document: unknown): string {
  return `---\n${stringify(document, { lineWidth: 0 }).trimEnd()}`;
}
