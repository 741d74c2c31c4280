import { ApiProblem, type SourceGateway } from "@fairway/wire";
import type { SessionClient } from "../../session/session.ts";
import type { CarryReport } from "./report.ts";

/** A row as the other gateway returns it; columns differ between versions. */
export type ForeignRow = Readonly<Record<string, unknown>>;

/** Shared state of an import. */
export interface Carry {
  readonly kind: SourceGateway;
  readonly source: SessionClient;
  readonly target: SessionClient;
  readonly isDry: boolean;
  readonly report: CarryReport;
  /** Options that this import writes, and channels whose models need a price. */
  readonly options: Map<string, string>;
  readonly served: ServedChannel[];
  /** Maps a group there to its name here. */
  resolveGroup(group: string): string;
  /** Converts their units of quota to ours. */
  convertQuota(amount: unknown): number;
}

/** A channel's models by the names that clients use, each with its upstream name. */
interface ServedChannel {
  readonly address: string;
  readonly key: string;
  readonly models: Readonly<Record<string, string>>;
}

export function readText(row: ForeignRow, name: string): string {
  const value = row[name];
  return typeof value === "string" ? value : "";
}

export function readNumber(row: ForeignRow, name: string, fallback = 0): number {
  const value = row[name];
  return typeof value === "number" && Number.isFinite(value) ? value : fallback;
}

/** Returns true for a refusal by the gateway, as opposed to a network error. */
export function isRefusal(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && error.status === 200;
}

/** Runs an action; a refusal is counted and reported with its reason. */
export async function attempt(
  { report }: Carry,
  { what, name, outcome = "created" }: { what: string; name: string; outcome?: "created" | "updated" },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
    report.count(what, outcome);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    report.count(what, "skipped");
    report.note(`${name} was refused: ${error.message}`);
  }
}

/** Reports columns that have a value but no place here. */
export function noteColumns(
  { report }: Carry,
  what: string,
  rows: readonly ForeignRow[],
  known: readonly string[],
): void {
  const counts = new Map<string, number>();
  for (const row of rows)
    for (const [column, value] of Object.entries(row))
      if (!known.includes(column) && holdsSomething(value)) counts.set(column, (counts.get(column) ?? 0) + 1);
  for (const [column, count] of counts)
    report.about(`columns of ${what} that are not carried over`, `${column} (${count})`);
}

function holdsSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.values(value).some(holdsSomething);
  return value !== null && value !== undefined && value !== "" && value !== 0 && value !== false && value !== "{}";
}
