import { createDatabase } from "@fairway/testkit/databases";
import { parseOptions } from "@fairway/wire";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { quietLog } from "../../test/kit/support.ts";
import { createTestAccounts, requestId, type LedgerHarness } from "../billing/ledger/test-harness.contract.ts";
import { ratio } from "../billing/money/ratio.ts";
import { openSqlHarness } from "../billing/ledger/sql/test-harness.contract.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { reserveTask } from "./money.ts";
import type { TaskCall, TaskDeps } from "./types.ts";

let harness: LedgerHarness;

beforeAll(async () => {
  harness = await openSqlHarness(await createDatabase("sqlite"));
});
afterAll(() => harness.close());
afterEach(() => vi.useRealTimers());

const channel = { id: 5, setting: {} } as ChannelRecord;
const price = { kind: "call", modelPrice: 1, exact: ratio("1"), unit: "call", hasImageFactors: false };

function createDeps(): TaskDeps {
  const options = parseOptions([]);
  const snapshot = { options, channels: new Map(), prices: { find: () => price, groupRatio: () => "1" } };
  return {
    ledger: harness.ledger,
    clock: harness.clock,
    log: quietLog,
    snapshots: { current: () => snapshot },
    admission: { budgets: { isEmpty: true, counting: () => ({}) } },
  } as unknown as TaskDeps;
}

test("a submission that takes longer than the lease keeps its reservation", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const accounts = createTestAccounts(harness);
  const userId = await accounts.addUser(1_000_000);
  const caller = { userId, tokenId: 0, username: "u", tokenName: "" };
  const call = { requestId: requestId(), caller, startedAt: 0 } as unknown as TaskCall;
  const target = { channel, group: "default" };
  const money = await reserveTask(call, { model: "suno_lyrics" }, [target], createDeps());
  for (let passed = 0; passed < 150_000; passed += 10_000) {
    harness.clock.advance(10_000);
    await vi.advanceTimersByTimeAsync(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await harness.ledger.reap()).toBe(0);
  await money.promise(target, "a song");
  harness.clock.advance(harness.leaseMs);
  await vi.advanceTimersByTimeAsync(harness.leaseMs);
  expect(await harness.ledger.reap()).toBe(1);
  await money.settle(target, "a song");
  const rows = await harness.database.rows<{ kind: string; quota: number }>("select kind, quota from ledger", []);
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { kind: "consume", quota: -500_000 },
    { kind: "correct", quota: 0 },
  ]);
});
