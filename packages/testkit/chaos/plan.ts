import { CLUSTER_FAULTS } from "./cluster-faults.ts";
import { FAULTS, PAIRS, SHORT_FAULTS, type Fault, type Pace } from "./faults.ts";
import type { Plan } from "./round.ts";
import type { DatabaseName, StoreName } from "./servers.ts";

const PACE: Pace = { awayMs: 2_000, badMs: 6_000, stillMs: 6_000 };
const LONG_PACE: Pace = { awayMs: 10_000, badMs: 30_000, stillMs: 60_000 };
/** Share of a long run's minutes that each database gets with a Redis of one server. */
const SHARE = { MariaDB: 0.5, PostgreSQL: 0.25 };
const CLUSTER_SHARE = 0.25;
const MINUTE_MS = 60_000;

export interface Wishes {
  /** 0 = each fault once, at a quick pace. */
  readonly minutes: number;
  readonly database: DatabaseName;
  readonly store: StoreName;
  /** Only faults whose name matches this regular expression. */
  readonly only: string;
  /** A program to use instead of the gateway's sources; "" = none. */
  readonly program: string;
  readonly say: (line: string) => void;
}

/** Plans one round. */
export function buildPlan({ minutes, database, store, only, program, say }: Wishes): Plan {
  const isMain = database === "MariaDB";
  const isLong = minutes > 0;
  const isWhole = isLong || only !== "";
  const isCluster = store === "a Redis Cluster";
  const faults: readonly Fault[] = isCluster
    ? CLUSTER_FAULTS
    : isWhole
      ? [...FAULTS, ...PAIRS]
      : isMain
        ? FAULTS
        : SHORT_FAULTS;
  return {
    database,
    store,
    faults: faults.filter(({ name }) => new RegExp(only).test(name)),
    perSecond: isMain ? 20 : 10,
    pace: isLong ? LONG_PACE : PACE,
    calmMs: isLong ? 5_000 : 1_500,
    lastsMs: minutes * MINUTE_MS * (isCluster ? CLUSTER_SHARE : SHARE[database]),
    program: program === "" ? undefined : program,
    say,
  };
}
