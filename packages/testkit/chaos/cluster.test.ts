// Runs each fault of a Redis Cluster once. `npm run test:chaos` runs longer and writes the page.
import { beforeAll, describe, expect, test } from "vitest";
import { CLUSTER_FAULTS } from "./cluster-faults.ts";
import { buildPlan } from "./plan.ts";
import { runRound } from "./round.ts";
import { phaseProblems, listProblems, type Round } from "./verdict.ts";

const LIMIT_MS = 600_000;

describe("three replicas on MariaDB and a Redis Cluster", () => {
  let round: Round;

  beforeAll(async () => {
    const wishes = { minutes: 0, database: "MariaDB", store: "a Redis Cluster", only: "", program: "" } as const;
    round = await runRound(buildPlan({ ...wishes, say: () => undefined }));
  }, LIMIT_MS);

  test.each(CLUSTER_FAULTS.map(({ name }) => name))("%s", (name) => {
    const phases = round.phases.filter(({ fault }) => fault.name === name);
    expect(phases).toHaveLength(1);
    expect(phases.flatMap(phaseProblems)).toEqual([]);
  });

  test("nothing is lost, charged twice or left reserved at the end", () => {
    expect(listProblems(round)).toEqual([]);
    expect(round.completions.delivered).toBeGreaterThan(250);
  });
});
