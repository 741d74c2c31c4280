// Kills replicas at every step of batches. `npm run test:chaos -- --batches` does it on every database, with and without
// Redis, and prints the table.
import { expect, test } from "vitest";
import { listBatchProblems, runBatchKills } from "./run.ts";

const LIMIT_MS = 600_000;

test.each([
  { database: "MariaDB", redis: "present" },
  { database: "PostgreSQL", redis: "emptied" },
] as const)(
  "batches on $database, with Redis $redis, are booked once, whatever the killed process was doing",
  async (setting) => {
    const report = await runBatchKills(setting);
    expect(listBatchProblems(report)).toEqual([]);
    expect(report.batches).toHaveLength(7);
  },
  LIMIT_MS,
);
