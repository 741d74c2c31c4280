import type { UsageStatistics } from "@fairway/wire";
import type { LogPart } from "../../shared/usage/log-link.ts";
import type { Metric } from "./series.ts";

/** Dimensions of the dashboard; users see their own models and tokens. */
const DIMENSIONS = ["model", "user", "token", "channel", "group"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Calls of one user are summed only by model and by token. */
export function listDimensions(isSingleUser: boolean): readonly Dimension[] {
  return isSingleUser ? ["model", "token"] : DIMENSIONS;
}

/** Returns the text of a metric: a channel makes attempts, and one request may need several. */
export function metricText(metric: Metric, dimension: Dimension): Metric | "attempts" {
  return metric === "requests" && dimension === "channel" ? "attempts" : metric;
}

/** Figures that no chart draws. */
export interface SubjectFigures {
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  /** Milliseconds; 0 = not measured. */
  readonly p95: number;
}

export function buildFigures({ subjects }: UsageStatistics): ReadonlyMap<string, SubjectFigures> {
  return new Map(
    subjects.map(({ subject, name, calls, errors, latency }) => [subject, { name, calls, errors, p95: latency.p95 }]),
  );
}

/** Shows a subject without a name by its id. */
export function formatSubjectLabel(
  dimension: Dimension,
  key: string,
  figures: ReadonlyMap<string, SubjectFigures>,
): string {
  const name = figures.get(key)?.name ?? key;
  return name === key && dimension !== "model" && dimension !== "group" ? `#${key}` : name;
}

/** Returns the log filter for one subject; undefined if its name is not known. */
export function findLogPart(
  dimension: Dimension,
  key: string,
  figures: ReadonlyMap<string, SubjectFigures>,
): LogPart | undefined {
  if (dimension === "channel") return { channel: key };
  if (dimension === "model") return { model: key };
  if (dimension === "group") return { group: key };
  if (dimension === "token") return { tokenId: key };
  const name = figures.get(key)?.name;
  return name === undefined || name === key ? undefined : { user: name };
}
