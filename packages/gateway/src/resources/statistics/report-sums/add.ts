import { inChunks } from "../../../lib/chunks.ts";
import type { Database } from "../../../storage/database.ts";
import type { RawTransaction } from "../../../storage/engines/raw.ts";
import { upsertSql } from "../../../storage/inserts.ts";
import { boundSums, type SumBounds } from "./bound.ts";
import { buildSumKey, FIGURE_NAMES, type ReportSum } from "./gather.ts";

const SUMS_AT_ONCE = 100;
const KEY = ["cube", "tag_key", "span", "owner_id", "start", "value", "model"] as const;
const ADD = { table: "report_sums", columns: [...KEY, ...FIGURE_NAMES], key: KEY, add: FIGURE_NAMES } as const;

/** Adds the sums of a pass. The caller holds a lock against concurrent writers. */
export async function addReportSums(
  tx: RawTransaction,
  kind: Database["kind"],
  sums: readonly ReportSum[],
  bounds: SumBounds,
): Promise<void> {
  for (const some of inChunks(await boundSums(tx, kind, sums, bounds), SUMS_AT_ONCE)) {
    const values = some.flatMap(({ key, figures }) => [
      ...buildSumKey(key),
      ...FIGURE_NAMES.map((name) => figures[name]),
    ]);
    await tx.run(upsertSql(kind, ADD, some.length), values);
  }
}
