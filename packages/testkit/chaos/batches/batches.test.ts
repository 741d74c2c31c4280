// Kills replicas at every step of batches. `npm run test:chaos -- --batches` does it on every database, with and without
// Redis, and prints the table.
import { expect, test } from "vitest";
import { listBatchProblems, runBatchKills } from "./run.ts";

const LIMIT_MS = 600_000;

test(
  "batches on MariaDB and Redis are booked once, whatever the killed process was doing",
  async () => {
    const report = await runBatchKills({ database: "MariaDB", redis: "present" });
    expect(listBatchProblems(report)).toEqual([]);
    expect(report.batches).toHaveLength(7);
  },
  LIMIT_MS,
);
