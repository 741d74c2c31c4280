import { killCreations, killSettlements } from "./kills.ts";
import { auditLedger, judgeBatch, type BatchVerdict } from "./verdict.ts";
import { startBatchWorld, until, type Setting } from "./world.ts";

/** What became of the batches of one world. */
export interface BatchReport {
  readonly setting: Setting;
  readonly batches: readonly BatchVerdict[];
  /** The last line of `ledger audit`. */
  readonly audit: string;
  readonly seconds: number;
}

export const SETTINGS: readonly Setting[] = [
  { database: "SQLite", redis: "none" },
  { database: "MariaDB", redis: "none" },
  { database: "MariaDB", redis: "present" },
  { database: "PostgreSQL", redis: "emptied" },
];

const AGREES = ": 0 differences";

/** Kills replicas at every step of batches, and compares the books when all of them have ended. */
export async function runBatchKills(setting: Setting): Promise<BatchReport> {
  const from = performance.now();
  const world = await startBatchWorld(setting);
  try {
    const killed = [...(await killCreations(world)), ...(await killSettlements(world))];
    // Changes of balances reach Redis a moment after their commit.
    const audit = await until("the books agree", async () => {
      const line = await auditLedger(world);
      return line.includes(AGREES) && line;
      // The report shows the last line, which says what differs.
    }).catch(() => auditLedger(world));
    const batches = await Promise.all(killed.map((one) => judgeBatch(world, one)));
    return { setting, batches, audit, seconds: Math.round((performance.now() - from) / 1_000) };
  } finally {
    await world.stop();
  }
}

/** Returns what is wrong, in words. */
export function listBatchProblems({ batches, audit }: BatchReport): string[] {
  return [
    ...batches.flatMap(({ step, problems }) => problems.map((problem) => `${step}: ${problem}`)),
    ...(audit.includes(AGREES) ? [] : [`ledger audit: ${audit}`]),
  ];
}
