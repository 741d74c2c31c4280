import type { OptionValues, ReportField, ReportRow, UsageReport } from "@fairway/wire";
import { ratio, roundHalfUp, type Ratio } from "../../billing/money/ratio.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { LogQuery } from "../logs/filter.ts";
import { withAccounts, type FindNamed } from "../logs/named-accounts.ts";
import { listColumns } from "./fields.ts";
import { ReportGroups, type Figures, type ReportGroup } from "./groups.ts";
import { readQuestion, type Asked } from "./question.ts";
import { shareCosts, type Sharing } from "./share.ts";
import type { ReportStore } from "./store.ts";

export interface ReportDeps {
  readonly store: ReportStore;
  readonly clock: Clock;
  readonly options: () => Pick<OptionValues, "QuotaPerUnit">;
  readonly channelNames: (ids: readonly number[]) => Promise<ReadonlyMap<number, string>>;
  readonly findNamed: FindNamed;
}

/** A call may be written this long after its end. */
export const SETTLE_SECONDS = 60;

/** Sums the calls that match. Throws a refusal for a question that cannot be. */
export async function buildReport(asked: Asked, wanted: LogQuery, deps: ReportDeps): Promise<UsageReport> {
  const now = seconds(deps.clock);
  const filter = await withAccounts(deps.findNamed, wanted);
  const { by, start, end, periods, sharing } = readQuestion(asked, now);
  const groups = new ReportGroups(by);
  for (const period of periods) {
    const bounds = { from: period.start, to: period.end - 1 };
    await deps.store.addPeriod(groups, { by, filter, period: bounds, start: period.start });
  }
  const found = groups.finish();
  const unit = ratio(deps.options().QuotaPerUnit);
  const names = await readChannelNames(by, found.groups, deps);
  const columns = by.flatMap(listColumns);
  return {
    columns: ["start", ...columns, ...FIGURES, ...(sharing ? SHARED : [])],
    rows: withShares(
      found.groups.map((group) => toRow(group, { columns, unit, names })),
      { sharing, unit },
    ),
    total: priced(groups.total, unit),
    start,
    end,
    complete_until: Math.min(end, now - SETTLE_SECONDS),
    bounded: found.isBounded,
    other_groups: found.left,
  };
}

async function readChannelNames(
  by: readonly ReportField[],
  groups: readonly ReportGroup[],
  { channelNames }: Pick<ReportDeps, "channelNames">,
): Promise<ReadonlyMap<number, string>> {
  const at = by.flatMap(listColumns).indexOf("channel_id");
  if (at < 0) return new Map();
  return channelNames([...new Set(groups.map(({ values }) => Number(values[at])))].filter((id) => id > 0));
}

interface Shape {
  readonly columns: readonly string[];
  readonly unit: Ratio;
  readonly names: ReadonlyMap<number, string>;
}

function toRow({ start, values, figures }: ReportGroup, { columns, unit, names }: Shape): ReportRow {
  const fields: Record<string, string | number> = {};
  for (const [at, column] of columns.entries()) fields[column] = values[at] ?? "";
  const channel = fields["channel_id"];
  if (typeof channel === "number" && channel > 0) fields["channel"] = names.get(channel) ?? "";
  return { start, ...fields, ...priced(figures, unit) };
}

const FIGURES = ["calls", "errors", "input_tokens", "output_tokens", "quota", "cost_usd"] as const;
/** What is added where costs are shared: a part that may be negative, and the cost with it. */
const SHARED = ["shared", "total", "total_usd"] as const;

function withShares(
  rows: readonly ReportRow[],
  { sharing, unit }: { readonly sharing: Sharing | undefined; readonly unit: Ratio },
): ReportRow[] {
  if (!sharing) return [...rows];
  const { field } = sharing;
  const costs = rows.map((row) => ({ start: row.start, value: String(row[field]), quota: row.quota }));
  const parts = shareCosts(costs, sharing);
  return rows.map((row, at) => {
    const shared = parts[at] ?? 0;
    const total = row.quota + shared;
    return { ...row, shared, total, total_usd: formatDollars(total, unit) };
  });
}

const MICROS = 1_000_000n;

/** Six decimals, rounded half up once: rows may differ from their total by the last digit. */
function priced(figures: Figures, unit: Ratio): Figures & { readonly cost_usd: string } {
  return { ...figures, cost_usd: formatDollars(figures.quota, unit) };
}

function formatDollars(quota: number, unit: Ratio): string {
  const micros = roundHalfUp(BigInt(quota) * unit.den * MICROS, unit.num);
  return `${micros / MICROS}.${String(micros % MICROS).padStart(6, "0")}`;
}
