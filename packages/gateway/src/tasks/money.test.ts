import { createDatabase } from "@fairway/testkit/databases";
import { parseOptions } from "@fairway/wire";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { quietLog } from "../../test/kit/support.ts";
import { accountsOf, requestId, type LedgerRig } from "../billing/ledger/test-harness.contract.ts";
import { ratio } from "../billing/money/ratio.ts";
import { openSqlRig } from "../billing/ledger/sql/test-harness.contract.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { reserveTask } from "./money.ts";
import type { TaskCall, TaskDeps } from "./types.ts";

let rig: LedgerRig;

beforeAll(async () => {
  rig = await openSqlRig(await createDatabase("sqlite"));
});
afterAll(() => rig.close());
afterEach(() => vi.useRealTimers());

const channel = { id: 5, setting: {} } as ChannelRecord;
const price = { kind: "call", modelPrice: 1, exact: ratio("1"), unit: "call", hasImageFactors: false };

function depsOf(): TaskDeps {
  const options = parseOptions([]);
  const snapshot = { options, channels: new Map(), prices: { find: () => price, groupRatio: () => "1" } };
  return {
    ledger: rig.ledger,
    clock: rig.clock,
    log: quietLog,
    snapshots: { current: () => snapshot },
    admission: { budgets: { isEmpty: true, counting: () => ({}) } },
  } as unknown as TaskDeps;
}

test("a submission that takes longer than the lease keeps its reservation", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const accounts = accountsOf(rig);
  const userId = await accounts.addUser(1_000_000);
  const caller = { userId, tokenId: 0, username: "u", tokenName: "" };
  const call = { requestId: requestId(), caller, startedAt: 0 } as unknown as TaskCall;
  const target = { channel, group: "default" };
  const money = await reserveTask(call, { model: "suno_lyrics" }, [target], depsOf());
  for (let passed = 0; passed < 150_000; passed += 10_000) {
    rig.clock.advance(10_000);
    await vi.advanceTimersByTimeAsync(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await rig.ledger.reap()).toBe(0);
  await money.promise(target, "a song");
  rig.clock.advance(rig.leaseMs);
  await vi.advanceTimersByTimeAsync(rig.leaseMs);
  expect(await rig.ledger.reap()).toBe(1);
  await money.settle(target, "a song");
  const rows = await rig.database.rows<{ kind: string; quota: number }>("select kind, quota from ledger", []);
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { kind: "consume", quota: -500_000 },
    { kind: "correct", quota: 0 },
  ]);
});
