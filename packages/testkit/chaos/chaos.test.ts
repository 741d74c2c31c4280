// Runs every fault once, on both databases in parallel. `npm run test:chaos` runs longer and writes the page.
import { beforeAll, describe, expect, test } from "vitest";
import { FAULTS, SHORT_FAULTS } from "./faults.ts";
import { buildPlan } from "./plan.ts";
import { runRound } from "./round.ts";
import { phaseProblems, listProblems, type Round } from "./verdict.ts";

/** Two and a half minutes on a quiet machine. */
const LIMIT_MS = 900_000;
const ROUNDS = { MariaDB: FAULTS, PostgreSQL: SHORT_FAULTS } as const;
const NAMES = ["MariaDB", "PostgreSQL"] as const;

const rounds = new Map<string, Round>();

beforeAll(async () => {
  const run = async (database: (typeof NAMES)[number]) => {
    const plan = buildPlan({ minutes: 0, database, store: "Redis", only: "", program: "", say: () => undefined });
    rounds.set(database, await runRound(plan));
  };
  await Promise.all(NAMES.map(run));
}, LIMIT_MS);

describe.each(NAMES)("three replicas on %s and Redis", (database) => {
  const round = () => rounds.get(database) ?? expect.unreachable("the round did not run");

  test.each(ROUNDS[database].map(({ name }) => name))("%s", (name) => {
    const phases = round().phases.filter(({ fault }) => fault.name === name);
    expect(phases).toHaveLength(1);
    expect(phases.flatMap(phaseProblems)).toEqual([]);
  });

  test("nothing is lost, charged twice or left reserved at the end", () => {
    expect(listProblems(round())).toEqual([]);
    expect(round().completions.delivered).toBeGreaterThan(250);
  });
});
