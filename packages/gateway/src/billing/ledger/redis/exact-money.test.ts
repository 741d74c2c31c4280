import { freshRedis } from "@fairway/testkit/databases";
import type { Service } from "@fairway/testkit/services";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { quota } from "../../money/quota.ts";
import { isRefusal, type Hold } from "../ledger.ts";
import { granted, requestId, createSettlement } from "../test-harness.contract.ts";
import type { RedisHarness } from "./test-harness.contract.ts";
import { openHarnesses } from "./traffic.contract.ts";

const CALLS = 40;
/** What each call reserves and costs. Two reservations at once exceed every balance. */
const RESERVED = 60;
const COST = 1;
const MONEY = 100;

describe("calls one after the other on money that is enough for one reservation", () => {
  let service: Service;
  let kit: Awaited<ReturnType<typeof openHarnesses>>;
  beforeAll(async () => {
    service = await freshRedis();
    kit = await openHarnesses(service);
  });
  afterAll(async () => {
    for (const { close } of kit.harnesses) await close();
  });

  /** Returns the outcome of each call; `end` resolves when the client has its whole answer. */
  const play = async (
    limited: "user" | "token",
    pickReplica: (call: number) => number,
    end: (hold: Hold, on: RedisHarness) => Promise<void>,
  ) => {
    const { accounts, harnesses } = kit;
    const userId = await accounts.addUser(limited === "user" ? MONEY : 1_000_000);
    const tokenId = await accounts.addToken(userId, limited === "token" ? MONEY : "unlimited");
    const refused: number[] = [];
    for (let call = 0; call < CALLS; call += 1) {
      const on = harnesses[pickReplica(call) % harnesses.length] as RedisHarness;
      const request = { requestId: requestId(), userId, tokenId, amount: quota(RESERVED), isCharged: true };
      const hold = await on.ledger.hold(request);
      if (isRefusal(hold)) refused.push(call);
      else await end(hold, on);
    }
    return refused;
  };
  const settle = (hold: Hold, { ledger }: RedisHarness) => ledger.settle(createSettlement(hold, COST));
  const release = (hold: Hold, { ledger }: RedisHarness) => ledger.release(hold);
  const onOne = () => 0;
  const onBoth = (call: number) => call;

  // @weakness Money: The rest of a reservation is still held when the client has its whole answer
  it.each([
    ["the same replica", "user", onOne],
    ["the same replica", "token", onOne],
    ["another replica", "user", onBoth],
    ["another replica", "token", onBoth],
  ] as const)("are all served on %s, limited by the %s", async (_name, limited, pickReplica) => {
    expect(await play(limited, pickReplica, settle)).toEqual([]);
    expect(await play(limited, pickReplica, release)).toEqual([]);
    expect(await play(limited, pickReplica, (hold, on) => (hold.amount % 2 ? settle : release)(hold, on))).toEqual([]);
  });

  it("extend a running answer with what another one has just returned", async () => {
    const { accounts, harnesses } = kit;
    const [first, second] = harnesses as [RedisHarness, RedisHarness];
    const user = await accounts.addUser(MONEY);
    const other = await granted(first.ledger, user, 0, 50);
    const running = await granted(second.ledger, user, 0, 50);
    await first.ledger.settle(createSettlement(other, COST));
    expect(await second.ledger.renew(running, createSettlement(running, 40), quota(90))).toBe(true);
    await second.ledger.settle(createSettlement(running, 90));
  });

  it("refuse at once what the balance cannot cover, whichever replica returns it", async () => {
    const { accounts, harness } = kit;
    const user = await accounts.addUser(MONEY);
    await granted(harness.ledger, user, 0, RESERVED);
    const startedAt = performance.now();
    const request = { requestId: requestId(), userId: user, tokenId: 0, amount: quota(MONEY + 1), isCharged: true };
    expect(await harness.ledger.hold(request)).toMatchObject({ refused: "user", available: MONEY - RESERVED });
    expect(performance.now() - startedAt).toBeLessThan(90);
  });
});
