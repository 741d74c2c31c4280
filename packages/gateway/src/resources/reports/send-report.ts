import type { UsageReport } from "@fairway/wire";
import type { ServerResponse } from "node:http";
import { formatReportCsv } from "./csv.ts";
import { formatReportParquet } from "./parquet.ts";

const FORMATS = ["json", "csv", "parquet"] as const;
export type ReportFormat = (typeof FORMATS)[number];

const MEDIA_TYPES = { csv: "text/csv; charset=utf-8", parquet: "application/vnd.apache.parquet" } as const;

/** Returns the format of a call; undefined if there is none of that name. */
export function findReportFormat(text: string): ReportFormat | undefined {
  return text === "" ? "json" : FORMATS.find((name) => name === text);
}

export interface ReportFile {
  readonly body: Buffer;
  readonly mediaType: string;
  readonly extension: string;
}

/** Returns a report as a file. */
export function formatReportFile(report: UsageReport, format: "csv" | "parquet", hasMark: boolean): ReportFile {
  const body = format === "csv" ? Buffer.from(formatReportCsv(report, hasMark)) : formatReportParquet(report);
  return { body, mediaType: MEDIA_TYPES[format], extension: format };
}

/** Sends a file in place of the answer if one was asked for. */
export function sendReport(
  response: ServerResponse,
  report: UsageReport,
  { format, hasMark }: { readonly format: ReportFormat; readonly hasMark: boolean },
): UsageReport {
  if (format === "json") return report;
  const { body, mediaType, extension } = formatReportFile(report, format, hasMark);
  response.writeHead(200, {
    "Content-Type": mediaType,
    "Content-Length": body.length,
    "Content-Disposition": `attachment; filename="report.${extension}"`,
  });
  response.end(body);
  return report;
}
