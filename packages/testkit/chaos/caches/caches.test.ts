// Kills the replica that creates caches at every step: nothing is paid twice, and what stays at the provider is known.
import { expect, test } from "vitest";
import { listCacheProblems, runCacheKills } from "./kills.ts";

const LIMIT_MS = 600_000;

test.each([
  ["MariaDB", "none", 4],
  ["PostgreSQL", "emptied", 1],
] as const)(
  "caches on %s, with Redis %s, are paid once or not at all, whatever the killed process was doing",
  async (database, redis, steps) => {
    const report = await runCacheKills({ database, redis });
    expect(listCacheProblems(report)).toEqual([]);
    expect(report.caches).toHaveLength(steps);
    const unnamed = report.caches.filter(({ leftUpstream }) => leftUpstream > 0).length;
    expect(report.unknown).toBeGreaterThanOrEqual(unnamed);
  },
  LIMIT_MS,
);
