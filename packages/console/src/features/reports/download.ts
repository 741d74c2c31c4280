import type { UsageReport } from "@fairway/wire";
import { HttpProblem } from "../../lib/problems.ts";
import { parseObject } from "../../lib/text/json.ts";
import { buildQuery, type Question } from "./api.ts";
import { buildUsageUrl, type Reader } from "./reader.ts";

export const FORMATS = ["csv", "json", "parquet"] as const;
export type Format = (typeof FORMATS)[number];

/** A report may take this long to be summed. */
const MOST_MS = 120_000;
/** How long the browser may take to begin saving. */
const SAVE_MS = 60_000;

function save(file: Blob, format: Format): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = `report-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), SAVE_MS);
}

interface Asked {
  readonly question: Question;
  readonly reader: Reader;
  readonly userId: number;
}

/** Saves the report that is shown, or has the gateway write it as a file. */
export async function saveReport(report: UsageReport, format: Format, asked: Asked): Promise<void> {
  if (format !== "json") return save(await fetchFile(format, asked), format);
  save(new Blob([JSON.stringify(report, undefined, 2)], { type: "application/json" }), format);
}

async function fetchFile(format: Format, { question, reader, userId }: Asked): Promise<Blob> {
  // Spreadsheets recognize UTF-8 by the byte order mark.
  const query = { ...buildQuery(question, reader), format, bom: format === "csv" ? 1 : 0 };
  const response = await fetch(buildUsageUrl(reader, query), {
    headers: { "New-Api-User": String(userId) },
    credentials: "same-origin",
    signal: AbortSignal.timeout(MOST_MS),
  });
  const isFile = response.ok && response.headers.get("content-disposition") !== null;
  if (isFile) return response.blob();
  const { message } = parseObject(await response.text()) ?? {};
  throw new HttpProblem(response.status, typeof message === "string" ? message : response.statusText);
}
