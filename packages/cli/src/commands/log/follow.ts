import { ApiProblem, logTail, logTailSelf, type LogRow } from "@fairway/wire";
import { setTimeout } from "node:timers/promises";
import type { Io } from "../../core/io.ts";
import { readEvents } from "../../terminal/events.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { toExitCode, formatErrorMessage } from "../../core/problem.ts";
import { openRows, type Output } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";
import { buildLogQuery, logShape, type LogFilterOptions } from "./log.ts";
import { readExport } from "./exported.ts";
import { living } from "./living.ts";
import type { LogQuery } from "./query.ts";
import { createSeenRows } from "./seen-rows.ts";

/** Rows are not written in the order of their times: after a gap the reader rereads this much. */
const MARGIN_SECONDS = 60;
const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Prints new rows until the user quits. If the gateway has answered once, a lost connection is retried forever. */
export async function followLogs(
  client: SessionClient,
  options: LogFilterOptions,
  output: Output,
  io: Io,
): Promise<void> {
  const { format } = output;
  if (output.sort !== undefined)
    throw new CliError("a list without an end cannot be sorted", EXIT.usage, "leave out --sort, or use log list");
  if (format === "yaml") throw new CliError("a list without an end is not a document", EXIT.usage, "use -o jsonl");
  const query = await buildLogQuery(client, options, io.nowSeconds());
  const printer = await openRows(format === "json" ? { ...output, format: "jsonl" } : output, logShape(query.isAdmin));
  const follower = createFollower(client, query, (row) => printer.add(row));
  let wait = 0;
  for (;;) {
    try {
      await follower.run();
      wait = SHORTEST_WAIT_MS;
    } catch (error) {
      if (!follower.hasBegun() || toExitCode(error) !== EXIT.unreachable) throw error;
      wait = waitFor(error, follower.takeProgress() ? 0 : wait);
      output.note(`${formatErrorMessage(error)}; trying again in ${wait / 1000} s`);
    }
    await setTimeout(wait);
  }
}

function nextWait(wait: number): number {
  return Math.min(Math.max(SHORTEST_WAIT_MS, wait * 2), LONGEST_WAIT_MS);
}

function waitFor(error: unknown, before: number): number {
  const asked = error instanceof ApiProblem ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.max(asked, nextWait(before));
}

/**
 * Reads the stream of new rows, and uses the list for what the stream left out: rows before it began, rows of a gap
 * between two streams, and rows that the gateway dropped because too many came at once. Both share the set of printed
 * rows.
 */
function createFollower(client: SessionClient, { isAdmin, filter }: LogQuery, print: (row: LogRow) => void) {
  const seen = createSeenRows(isAdmin);
  /** All rows up to here are printed, by the server's clock; 0 before the first answer. */
  let known = 0;
  let from = filter.start_timestamp as number;
  let hasProgress = false;

  const show = (row: LogRow) => {
    const number = seen.add(row, known);
    hasProgress = true;
    print(isAdmin ? row : { ...row, id: number });
  };

  const catchUp = async (isAlive: () => void) => {
    const start = Math.max(from, known - MARGIN_SECONDS);
    const fresh: LogRow[] = [];
    const isNew = seen.reading();
    await readExport(client, { isAdmin, filter: { ...filter, start_timestamp: start } }, (row) => {
      isAlive();
      if (isNew(row)) fresh.push(row);
    });
    for (const row of fresh.toReversed()) show(row);
    seen.forgetBefore(start);
  };

  return {
    hasBegun: () => known > 0,
    /** Returns whether anything was printed since the last call. */
    takeProgress() {
      const had = hasProgress;
      hasProgress = false;
      return had;
    },
    /** Reads one stream from start to end; rows that were dropped on the way are fetched at once. */
    async run(): Promise<void> {
      const call = isAdmin ? logTail : logTailSelf;
      await living(
        (signal) => client.open(call, { query: filter, signal }),
        async ({ body, at }, isAlive) => {
          const opened = performance.now();
          const isNew = seen.reading();
          if (known === 0 && from === 0) from = at;
          await catchUp(isAlive);
          known = Math.max(known, at);
          for await (const { name, data } of readEvents(body)) {
            isAlive();
            const row = name === "row" ? (JSON.parse(data) as LogRow) : undefined;
            if (row && isNew(row)) show(row);
            if (name === "dropped") await catchUp(isAlive);
            known = at + Math.floor((performance.now() - opened) / 1000);
          }
        },
      );
    },
  };
}
