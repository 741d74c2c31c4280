// The grid as text: a line per row, a letter per cell.
import type { Cell } from "./cases.ts";

export interface Verdict {
  readonly row: string;
  readonly cell: Cell;
  readonly problems: readonly string[];
  /** Why the cell cannot apply. */
  readonly reason: string | undefined;
  /** What the cell cannot show. */
  readonly partly: string | undefined;
}

const MARKS = { passed: "ok", partly: "o-", failed: "XX", impossible: "--" } as const;

export function printGrid(verdicts: readonly Verdict[]): string {
  const columns = [...new Set(verdicts.map(({ cell }) => buildColumnKey(cell)))];
  const rows = [...new Set(verdicts.map(formatRowName))];
  const width = Math.max(...rows.map((row) => row.length));
  const marks = new Map(
    verdicts.map((verdict) => [`${formatRowName(verdict)} ${buildColumnKey(verdict.cell)}`, selectMark(verdict)]),
  );
  const line = (name: string, cells: readonly string[]) => `${name.padEnd(width)}  ${cells.join("  ")}`;
  return [
    `columns: ${columns.map((name, index) => `${label(index)}=${name}`).join(" ")}`,
    line(
      "",
      columns.map((_name, index) => label(index)),
    ),
    ...rows.map((row) =>
      line(
        row,
        columns.map((column) => marks.get(`${row} ${column}`) ?? "  "),
      ),
    ),
    ...reasons(verdicts),
    `${count(verdicts, "passed")} passed, ${count(verdicts, "partly")} passed in part, ${count(verdicts, "failed")} failed, ${count(verdicts, "impossible")} cannot apply`,
    "",
  ].join("\n");
}

function label(index: number): string {
  return String.fromCharCode(97 + Math.floor(index / 4)) + String((index % 4) + 1);
}

function buildColumnKey({ client, upstream }: Cell): string {
  return `${client.name}>${upstream.name}`;
}

function formatRowName({ row, cell }: Verdict): string {
  return `${row} ${cell.isStream ? "stream" : "plain"}`;
}

function classifyVerdict({ reason, partly, problems }: Verdict): keyof typeof MARKS {
  if (reason !== undefined) return "impossible";
  if (problems.length > 0) return "failed";
  return partly === undefined ? "passed" : "partly";
}

function selectMark(verdict: Verdict): string {
  return MARKS[classifyVerdict(verdict)];
}

function count(verdicts: readonly Verdict[], kind: keyof typeof MARKS): number {
  return verdicts.filter((verdict) => classifyVerdict(verdict) === kind).length;
}

/** Returns each reason once, with the rows that it affects. */
function reasons(verdicts: readonly Verdict[]): string[] {
  const found = new Map<string, Set<string>>();
  for (const verdict of verdicts) {
    const reason = verdict.reason ?? verdict.partly;
    if (reason === undefined) continue;
    const line = `${selectMark(verdict)} ${reason}`;
    found.set(line, (found.get(line) ?? new Set()).add(formatRowName(verdict)));
  }
  return [...found].map(([reason, rows]) => `${reason}: ${[...rows].join(", ")}`);
}
