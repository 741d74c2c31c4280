// Kills the replica that creates caches at every step: nothing is paid twice, and what stays at the provider is known.
import { expect, test } from "vitest";
import { listCacheProblems, runCacheKills } from "./kills.ts";

const LIMIT_MS = 600_000;

test(
  "caches on PostgreSQL, while Redis is emptied, are paid once or not at all, whatever the killed process was doing",
  async () => {
    const report = await runCacheKills({ database: "PostgreSQL", redis: "emptied" });
    expect(listCacheProblems(report)).toEqual([]);
    expect(report.caches).toHaveLength(1);
    const unnamed = report.caches.filter(({ leftUpstream }) => leftUpstream > 0).length;
    expect(report.unknown).toBeGreaterThanOrEqual(unnamed);
  },
  LIMIT_MS,
);
