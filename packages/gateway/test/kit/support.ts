import { PassThrough } from "node:stream";
import type { Clock } from "../../src/lib/clock.ts";
import { createLog, type Logger } from "../../src/observability/log.ts";
import { openDatabase, type Database } from "../../src/storage/database.ts";
import { migrate } from "../../src/storage/schema/migrate.ts";

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /** Seconds. */
  move(by: number): void;
}

export function manualClock(at: number = Date.UTC(2026, 10, 21)): ManualClock {
  let now = at;
  return {
    now: () => now,
    move: (by) => {
      now += by * 1000;
    },
  };
}

export const quietLog: Logger = createLog({ level: "off", format: "text", out: new PassThrough() });

/** An empty database with the whole schema. */
export async function migratedDatabase(url: string): Promise<Database> {
  const database = openDatabase({ url, log: quietLog });
  await migrate(database, { log: quietLog, mode: "auto" });
  return database;
}

/** A log whose lines can be read back. */
export function recordingLog(): { readonly log: Logger; lines(): string } {
  const out = new PassThrough();
  const chunks: string[] = [];
  out.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  const log = createLog({ level: "debug", format: "json", out });
  return {
    log,
    lines: () => {
      log.flush();
      return chunks.join("");
    },
  };
}
