import type { LogRow } from "@fairway/wire";
import { existsSync } from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { homedir } from "node:os";
import { readErrorCode } from "../../../core/exit.ts";
import { formatColumnName, sheetCells, sheetLine } from "../../../print/sheet.ts";
import type { Column } from "../../../print/table.ts";
import { FieldProblem, type Field, type Values } from "../form.ts";
import type { WantedRows, Written } from "./resource.ts";

export const FILE_FIELDS: readonly Omit<Field, "value">[] = [
  { name: "file", hint: "a name with .jsonl for JSON lines, or with .csv", isNeeded: true },
  { name: "rows", hint: "shown, or all that match; empty = shown" },
];

/** How many characters are written at once. */
const PART = 1 << 16;

interface Source {
  /** Columns for csv. */
  readonly columns: readonly Column<LogRow>[];
  readonly shown: readonly LogRow[];
  /** Passes all matching rows to `take`, until it returns false. */
  readAll(take: (row: LogRow) => boolean | Promise<void>): Promise<void>;
}

/** Writes to a temporary file and renames it at the end: an existing file stays until the new one is complete. */
export async function writeRows(values: Values, wanted: WantedRows, source: Source): Promise<Written> {
  const { path, isSheet, isAll } = resolveExportFile(values);
  if (existsSync(path) && !wanted.mayReplace) return { exists: path };
  const { columns, shown, readAll } = source;
  const formatRow = (row: LogRow) => (isSheet ? sheetLine(sheetCells(columns, row), ",") : JSON.stringify(row));
  const sheet = await naming(path, () => openParts(path));
  try {
    if (isSheet) await sheet.add(sheetLine(columns.map(formatColumnName), ","));
    let count = 0;
    const add = (row: LogRow) => {
      wanted.onProgress(++count);
      return sheet.add(formatRow(row));
    };
    if (!isAll) for (const row of shown) await add(row);
    else await readAll((row) => (wanted.signal.aborted ? false : (add(row) ?? true)));
    await naming(path, () => sheet.finish());
    const stopped = wanted.signal.aborted ? ", then it was stopped" : "";
    return { notice: `Wrote ${count} rows to ${path}${stopped}.` };
  } catch (error) {
    await sheet.discard();
    throw error;
  }
}

function resolveExportFile({ file = "", rows = "shown" }: Values) {
  const path = file.replace(/^~(?=\/)/, homedir());
  const isSheet = path.endsWith(".csv");
  if (!isSheet && !/\.(jsonl|ndjson)$/.test(path))
    throw new FieldProblem("file", `${path} names no format`, "let it end in .jsonl or .csv");
  if (rows !== "shown" && rows !== "all") throw new FieldProblem("rows", `${rows} are no rows`, "write shown or all");
  return { path, isSheet, isAll: rows === "all" };
}

async function naming<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof FieldProblem) throw error;
    throw new FieldProblem("file", `${path} cannot be written (${readErrorCode(error)})`, "name another file");
  }
}

/** Opens a file that is written in parts. */
async function openParts(path: string) {
  const draft = `${path}.${process.pid}`;
  const file: FileHandle = await open(draft, "wx", 0o600);
  let text = "";
  const flush = async () => {
    const part = text;
    text = "";
    await naming(path, () => file.writeFile(part));
  };
  return {
    /** Returns undefined if the caller need not wait. */
    add(line: string): Promise<void> | undefined {
      text += `${line}\n`;
      return text.length > PART ? flush() : undefined;
    },
    async finish() {
      await flush();
      await file.close();
      await rename(draft, path);
    },
    async discard() {
      await file.close().catch(() => undefined);
      await rm(draft, { force: true });
    },
  };
}
