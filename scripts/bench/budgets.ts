import { parseArgs } from "node:util";
import { ask, measureCpu, type Cpu } from "../../packages/testkit/load/measure.ts";
import { median } from "../../packages/testkit/load/streams/plan.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { signIn, type Session } from "../../packages/testkit/src/api.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { buildJob } from "./plain.ts";

const SECONDS = 3;
const WARM_SECONDS = 8;
/** Time for the gateway to read changed budgets, and for its engine to compile other code paths. */
const SETTLE_SECONDS = 4;
const ROUNDS = "5";
/** The cost goal, as a multiple of a call without budgets. */
const GOAL = 1.2;
/** Every bench call counts in each of these budgets, and none is ever used up. */
const SUBJECTS = { user: "1", group: "default", model: "bench-plain" };
const LIMIT = 10 ** 14;
const LOAD = { name: "plain", model: "bench-plain", isStream: false, connections: 32 } as const;

interface Round {
  readonly without: Cpu;
  readonly with: Cpu;
}

/**
 * `npm run bench -- --budgets`: what a plain call costs with three hard budgets next to one without, in turn on the
 * same processes, each after a few seconds to settle: the gateway, its database and Redis together. Prints the medians
 * of `--rounds=5` and writes nothing; `--quick` is a smoke run.
 */
export async function benchBudgets(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const options = { budgets: flag, quick: flag, rounds: { type: "string", default: ROUNDS } } as const;
  const { values } = parseArgs({ options });
  await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const url = `http://127.0.0.1:${upstream.port}`;
  const launch = { env: ALLOCATOR, nodeArgs: NODE_FLAGS };
  const systems = [await start.startFairwaySqlite(url, launch), await start.startFairwayCluster(url, launch)];
  const bystanders = [generator.child, upstream.child];
  const measured = async (system: start.System, seconds: number) => {
    const { cpu, result } = await measureCpu(system, bystanders, () =>
      ask(generator.child, buildJob(system, LOAD, seconds)),
    );
    if (result.failed > 0) throw new Error(`${result.failed} calls of ${system.name} failed: ${result.firstFailure}`);
    return cpu;
  };
  try {
    const rows: string[] = [];
    for (const system of systems) {
      const root = await signIn(`http://127.0.0.1:${system.port}`);
      await measured(system, values.quick ? 1 : WARM_SECONDS);
      const rounds: Round[] = [];
      for (let round = 0; round < (values.quick ? 1 : Number(values.rounds)); round++) {
        const seconds = values.quick ? 1 : SECONDS;
        const settled = async () => {
          await measured(system, values.quick ? 1 : SETTLE_SECONDS);
          return measured(system, seconds);
        };
        const without = await settled();
        rounds.push({ without, with: await withBudgets(root, settled) });
      }
      rows.push(formatRow(system.name, rounds));
    }
    console.log(`${HEAD}\n${rows.join("\n")}`);
  } finally {
    for (const system of systems.toReversed()) await system.stop();
    generator.child.disconnect();
    upstream.child.disconnect();
  }
}

/** Creates three hard budgets that every bench call counts in; returns their ids. */
export async function createBudgets(root: Session): Promise<number[]> {
  const ids: number[] = [];
  for (const [scope, subject] of Object.entries(SUBJECTS)) {
    const budget = { scope, subject, period: "month", quota_limit: LIMIT };
    ids.push((await root.must<{ id: number }>("POST", "/api/budget/", budget)).id);
  }
  return ids;
}

async function withBudgets<T>(root: Session, work: () => Promise<T>): Promise<T> {
  const ids = await createBudgets(root);
  try {
    return await work();
  } finally {
    for (const id of ids) await root.must("DELETE", `/api/budget/${id}`);
  }
}

const HEAD = [
  "| system | without: us a call | database | Redis | with three: us a call | database | Redis | times | goal |",
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
].join("\n");

function formatRow(name: string, rounds: readonly Round[]): string {
  const figure = (pick: (round: Round) => number, digits = 0) => median(rounds.map(pick)).toFixed(digits);
  const all = ({ gateway, database, redis }: Cpu) => gateway + database + redis;
  const times = figure((round) => all(round.with) / all(round.without), 2);
  const figures = (["without", "with"] as const).flatMap((which) =>
    (["gateway", "database", "redis"] as const).map((part) => figure((round) => round[which][part])),
  );
  return `| ${[name, ...figures, times, GOAL.toFixed(1)].join(" | ")} |`;
}
