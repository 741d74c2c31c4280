// Databases whose servers replace each other: what was committed must be there, and the load continues.
import { describe, expect, test } from "vitest";
import { runSchedule } from "./random/run.ts";
import type { Engine } from "./random/schedule.ts";

/** Half a minute on a quiet machine; the limits of the steps in `run.ts`, which say what was missing, end before. */
const LIMIT_MS = 900_000;
const SCENES: readonly { readonly what: string; readonly engine: Engine }[] = [
  { what: "PostgreSQL is killed and its synchronous standby is promoted", engine: "PostgreSQL" },
  { what: "one of three nodes of Galera is killed and the address moves", engine: "Galera" },
];

describe.each(SCENES)("$what", ({ engine }) => {
  test.each([true, false])(
    "nothing is lost or charged twice; with Redis: %s",
    { timeout: LIMIT_MS },
    async (hasRedis) => {
      const failover = { action: "the database fails over", replica: 0, atMs: 2_000, lastsMs: 6_000 };
      const setting = { engine, hasRedis, onOutage: "deny" } as const;
      const result = await runSchedule({ seed: 0, setting, rounds: [[failover]] }, console.log);
      expect(result.problems).toEqual([]);
      expect(result.delivered).toBeGreaterThan(20);
    },
  );
});
