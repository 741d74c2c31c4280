import { seconds } from "../../../lib/clock.ts";
import { addCount, addText, noCounts, type FacetCounts } from "../../statistics/facet-counts.ts";
import { countMatchingRows, rowLimits } from "./facet-rows.ts";
import { facetSource, type FacetSource } from "./facet-sums.ts";
import type { CountedFacets } from "../facets.ts";
import { toPeriod, type LogQuery } from "../filter.ts";
import { HOUR } from "../../statistics/dimensions.ts";
import type { SumsDeps } from "./sums-deps.ts";
import { coveredPeriod, type Covered } from "./covered-period.ts";
import { rowsOutside, type RowsPart } from "./row-parts.ts";

/** Number of characters that are read at once; they take the process a millisecond. */
const TEXT_AT_ONCE = 50_000;

/** Counts the values of the newest rows, or of all rows if sums have all columns of the filter. */
export async function readFacets(deps: SumsDeps, query: LogQuery): Promise<CountedFacets> {
  const source = facetSource(query);
  const known = source && (await fromSums(deps, query, source));
  return known ?? countParts(deps, query, { counts: noCounts(), parts: [{ period: toPeriod(query) }] });
}

interface Parts {
  readonly counts: FacetCounts;
  readonly parts: readonly RowsPart[];
}

async function countParts({ database }: SumsDeps, query: LogQuery, { counts, parts }: Parts): Promise<CountedFacets> {
  const limits = rowLimits();
  for (const part of parts) await countMatchingRows(database, { query, limits, counts }, part);
  return { counts, isComplete: limits.rows > 0 && limits.errors > 0 };
}

/** Returns undefined if the rows have to be counted. */
async function fromSums(deps: SumsDeps, query: LogQuery, source: FacetSource): Promise<CountedFacets | undefined> {
  const period = toPeriod(query);
  const covered = await coveredPeriod(deps, { query, period }, { gapTopic: source.gapTopic, step: HOUR });
  const known = covered && (await readSums(deps, source, covered));
  const parts = known && (await rowsOutside(deps, period, { covered, mark: known.mark }));
  return parts && countParts(deps, query, { counts: known.counts, parts });
}

/** Reads sums and mark of the same moment. Returns undefined if a facet has too many values, or nothing is known. */
async function readSums(
  deps: SumsDeps,
  { findIntervals, read }: FacetSource,
  { hours, errorsFrom }: Covered,
): Promise<{ readonly counts: FacetCounts; readonly mark: number } | undefined> {
  const now = seconds(deps.clock);
  const others = findIntervals(hours, now);
  const errors = findIntervals({ from: errorsFrom, to: hours.to }, now);
  const rows = others && errors ? await read(deps, { others, errors }) : [];
  const [row] = rows;
  if (!row || rows.some((one) => one.counts === "")) return undefined;
  const counts = noCounts();
  let length = 0;
  for (const one of rows) {
    addText(counts, one.counts);
    addCount(counts.types, String(one.type), Number(one.log_rows));
    addCount(counts.users, one.username, Number(one.log_rows));
    length += one.counts.length;
    if (length < TEXT_AT_ONCE) continue;
    length = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { counts, mark: Number(row.mark) };
}
