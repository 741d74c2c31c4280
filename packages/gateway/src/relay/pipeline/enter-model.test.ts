import type { ServerResponse } from "node:http";
import { createDatabase } from "@fairway/testkit/databases";
import { parseOptions } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRequestSpec, createChannelRecord } from "../../../test/kit/provider-kit.ts";
import { openSqlHarness } from "../../billing/ledger/sql/test-harness.contract.ts";
import { createTestAccounts, requestId, type LedgerHarness } from "../../billing/ledger/test-harness.contract.ts";
import { createPriceBook, type PriceBook } from "../../billing/pricing/price-book.ts";
import type { RequestSpec } from "../../dialects/core/types.ts";
import { dialectById } from "../../dialects/index.ts";
import { systemClock } from "../../lib/clock.ts";
import { createSnapshot } from "../../snapshot/snapshot.ts";
import { jsonBody } from "../body/read-body.ts";
import { CallProgress } from "../request/call-progress.ts";
import type { RelayRequest } from "../request/request.ts";
import { createBreakers } from "../selection/breaker.ts";
import { createCooldowns } from "../selection/cooldown.ts";
import { enterModel, type PipelineDeps } from "./enter-model.ts";

const MODEL = "gpt-4o";

let harness: LedgerHarness;

beforeAll(async () => {
  harness = await openSqlHarness(await createDatabase("sqlite"));
});
afterAll(() => harness.close());

/** Returns the same object, which counts how often each of its members is read. */
function counted<T extends object>(target: T): { readonly object: T; readonly reads: Map<PropertyKey, number> } {
  const reads = new Map<PropertyKey, number>();
  const get = (from: T, name: PropertyKey) => {
    reads.set(name, (reads.get(name) ?? 0) + 1);
    return Reflect.get(from, name) as unknown;
  };
  return { object: new Proxy(target, { get }), reads };
}

/** Enters the model of a plain call, and returns what was read to price it. */
async function enter(parts: Partial<RequestSpec>) {
  const userId = await createTestAccounts(harness).addUser(1_000_000_000);
  const prices = counted<PriceBook>(createPriceBook());
  const spec = counted<RequestSpec>(createRequestSpec({ model: MODEL, promptEstimate: 100, ...parts }));
  const channels = [createChannelRecord({ id: 1, models: new Set([MODEL]) })];
  const snapshot = createSnapshot({
    revision: 1,
    options: parseOptions([]),
    prices: prices.object,
    channels,
    unusable: [],
  });
  const body = jsonBody(Buffer.from(JSON.stringify({ model: MODEL })));
  const request = {
    id: requestId(),
    spec: spec.object,
    dialect: dialectById("openai-chat"),
    body,
    caller: { userId, tokenId: 0, group: "default" },
    url: "/v1/chat/completions",
    progress: new CallProgress(),
  } as RelayRequest;
  const deps = {
    snapshots: { current: () => snapshot },
    routing: {
      selection: {
        cooldowns: createCooldowns(systemClock),
        breakers: createBreakers({ clock: systemClock }),
        random: Math.random,
        now: () => systemClock.now(),
        polling: new Map(),
      },
    },
    policy: { admission: { budgets: { isEmpty: true } } },
    money: { ledger: harness.ledger, now: () => harness.clock.now() },
  } as unknown as PipelineDeps;
  const entered = await enterModel(
    { request, snapshot, groups: ["default"], money: deps.money, deps },
    {} as ServerResponse,
  );
  await entered.session.release();
  return { first: entered.first, prices: prices.reads, spec: spec.reads };
}

test("a call with a cap is priced and estimated once", async () => {
  const { first, prices, spec } = await enter({ outputCap: 50 });
  expect(first?.channel.id).toBe(1);
  expect([prices.get("charged"), prices.get("groupRatio")]).toEqual([1, 1]);
  expect(spec.get("promptEstimate")).toBe(1);
});

test("a call without a cap is priced once, for the least and the most that it may cost", async () => {
  const { prices, spec } = await enter({ outputCap: undefined });
  expect([prices.get("charged"), prices.get("groupRatio")]).toEqual([1, 1]);
  // Each of the two estimates copies the request, and the output that the reservation covers is computed once.
  expect(spec.get("promptEstimate")).toBe(3);
});
