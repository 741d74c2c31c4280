import { logExport, logExportSelf, type LogRow } from "@fairway/wire";
import { setTimeout } from "node:timers/promises";
import { EXIT } from "../../core/exit.ts";
import { toExitCode, formatErrorMessage } from "../../core/problem.ts";
import type { SessionClient } from "../../session/session.ts";
import { readLines } from "../../terminal/events.ts";
import { living } from "./living.ts";
import { createCollector, limitYoungGeneration } from "../../terminal/collector.ts";
import type { LogQuery } from "./query.ts";

/** Letters of rows between two collections of garbage: rows may be long, so their number says little. */
const COLLECTED_LETTERS = 2_000_000;
/** Pauses before an interrupted export is continued. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000];

/** The result of taking a row: continue, stop (false), or wait. */
type Taken = boolean | void | Promise<void> | undefined;

/** Passes all matching rows to `take`, newest first, as they arrive; stops when it returns false. */
export async function readExport(
  client: SessionClient,
  { isAdmin, filter }: LogQuery,
  take: (row: LogRow) => Taken,
): Promise<void> {
  const query = { ...filter, format: "ndjson" };
  const collect = createCollector(COLLECTED_LETTERS);
  limitYoungGeneration();
  await living(
    (signal) => client.open(isAdmin ? logExport : logExportSelf, { query, signal }),
    async ({ body }, isAlive) => {
      for await (const line of readLines(body)) {
        isAlive();
        // The gateway's own rows, in the format of its export.
        const taken = take(JSON.parse(line) as LogRow);
        if (taken === false) return;
        if (taken instanceof Promise) await taken;
        collect(line.length);
      }
    },
  );
}

/** Survives lost connections: an export that breaks off is continued below its last row. */
export async function readWholeExport(
  client: SessionClient,
  query: LogQuery,
  take: (row: LogRow) => Taken,
  note: (text: string) => void,
): Promise<void> {
  let last = query.filter.end_timestamp as number | undefined;
  /**
   * Rows of the second in which the export broke off, by id, or by content if the ids only number the rows of a page.
   */
  let seen = new Set<string>();
  let failures = 0;
  for (;;) {
    const filter = { ...query.filter, end_timestamp: last };
    const known = seen;
    try {
      return await readExport(client, { ...query, filter }, (row) => {
        const text = query.isAdmin ? String(row.id) : JSON.stringify({ ...row, id: 0 });
        if (known.has(text)) return true;
        if (row.created_at !== last) seen = new Set();
        seen.add(text);
        last = row.created_at;
        failures = 0;
        return take(row);
      });
    } catch (error) {
      const pause = PAUSES_MS[failures++];
      if (pause === undefined || seen.size === 0 || toExitCode(error) !== EXIT.unreachable) throw error;
      note(`${formatErrorMessage(error)}; continuing in ${pause / 1000} s`);
      await setTimeout(pause);
    }
  }
}
