import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { expect, it } from "vitest";
import { steadyClock } from "../../../lib/clock.ts";
import { quota } from "../../money/quota.ts";
import { createCommitWatch, type LostCommits } from "../lost-commits/commit-watch.ts";
import { openHistory } from "../lost-commits/history.ts";
import { readIdentity } from "../lost-commits/identity.ts";
import { createWatchedLedger } from "../lost-commits/watched-ledger.ts";
import { rememberState } from "../lost-commits/went-back.contract.ts";
import { createTestAccounts, requestId } from "../test-harness.contract.ts";
import { linesLog, newPrefix, openRedisHarness } from "./test-harness.contract.ts";
import { expectCharged, RICH, traffic } from "./traffic.contract.ts";

/** Opens a replica that watches what its settler commits. */
async function openReplica(url: string, redisUrl: string, prefix: string, dir: string) {
  let recovered = 0;
  const events = {
    outageHold: () => undefined,
    settlementFailed: () => undefined,
    committed: (id: string) => watch.committed({ requestId: id, kind: "consume" }),
    recovered: (count: number) => void (recovered += count),
  };
  const harness = await openRedisHarness(url, { redisUrl, prefix, part: { barrierMs: 300, events } });
  const log = linesLog([]);
  const reports: LostCommits[] = [];
  const identity = await readIdentity(harness.database);
  const history = openHistory({ dir, identity, clock: steadyClock, log, retentionMs: 600_000 });
  const watch = createCommitWatch({
    database: harness.database,
    history,
    clock: steadyClock,
    log,
    book: undefined,
    onBack: () => harness.ledger.databaseWentBack(),
    report: (lost) => Promise.resolve(void reports.push(lost)),
    confirmMs: 10,
  });
  const watched = createWatchedLedger({
    ledger: harness.ledger,
    watch,
    history,
    clock: steadyClock,
    commitsOnSettle: false,
  });
  return { harness, watch, watched, reports, history, recovered: () => recovered };
}

it.each(["mariadb", "postgres"] as const)(
  "a %s that goes back under load gets the charges of all replicas again, and Redis its balances",
  { timeout: 60_000 },
  async (kind) => {
    const service = await freshRedis();
    const url = await createDatabase(kind);
    const prefix = newPrefix();
    const dirs = ["a", "b"].map(() => mkdtempSync(join(tmpdir(), "fairway-history-")));
    const replicas = [];
    for (const dir of dirs) replicas.push(await openReplica(url, service.url, prefix, dir));
    const harnesses = replicas.map(({ harness }) => harness);
    const [first] = replicas;
    if (!first) throw new Error("no replica");
    const accounts = createTestAccounts(first.harness);
    const user = await accounts.addUser(RICH);
    const token = await accounts.addToken(user, RICH);
    const stop = traffic(harnesses, user, token);
    await pause(500);
    const goBack = await rememberState(first.harness.database);
    await pause(1_000);
    const topUp = { requestId: requestId(), kind: "topup", userId: user, quota: quota(500) } as const;
    expect(await first.watched.change(topUp)).toBe(true);
    await pause(1_500);
    await goBack();
    await pause(300);
    for (const { watch } of replicas) await watch.check();
    await pause(1_500);
    const charged = await stop();
    await expectCharged(harnesses, accounts, user, charged);
    expect(replicas.reduce((sum, { recovered }) => sum + recovered(), 0)).toBeGreaterThan(10);
    expect(first.reports[0]?.changes).toMatchObject([topUp]);
    for (const { harness, history } of replicas) {
      await harness.close();
      history.close();
    }
    for (const dir of dirs) rmSync(dir, { recursive: true });
  },
);
