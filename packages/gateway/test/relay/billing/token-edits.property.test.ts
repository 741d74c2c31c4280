import { eachDatabase, freshRedis } from "@fairway/testkit/databases";
import { propertyRuns } from "@fairway/testkit/property-runs";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { audit } from "../../../src/billing/audit/audit.ts";
import { isRefusal } from "../../../src/billing/ledger/ledger.ts";
import {
  newPrefix,
  openRedisHarness,
  type RedisHarness,
} from "../../../src/billing/ledger/redis/test-harness.contract.ts";
import { createTestAccounts, requestId, createSettlement } from "../../../src/billing/ledger/test-harness.contract.ts";
import { quota } from "../../../src/billing/money/quota.ts";
import { tokenFields } from "../../../src/resources/tokens/input.ts";
import { createTokenStore, type TokenStore } from "../../../src/resources/tokens/store.ts";
import { createTokenCache, type ClearableTokenCache } from "../../../src/snapshot/tokens.ts";
import { openStoreKit, type StoreKit } from "../../kit/store-kit.ts";

type Step =
  | { readonly does: "call"; readonly replica: number; readonly amount: number }
  | { readonly does: "set"; readonly replica: number; readonly left: number }
  | { readonly does: "move"; readonly replica: number; readonly by: number }
  | { readonly does: "switch"; readonly replica: number; readonly isUnlimited: boolean }
  | { readonly does: "topup"; readonly replica: number; readonly amount: number };

const replica = fc.nat(1);
const amount = fc.integer({ min: 1, max: 500 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant("call" as const), replica, amount }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("set" as const), replica, left: fc.nat(20_000) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("move" as const), replica, by: fc.nat(5_000) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("switch" as const), replica, isUnlimited: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("topup" as const), replica, amount }) },
);
/** The steps of one round run at the same time. */
const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 16 }), { minLength: 1, maxLength: 6 });

interface Replica extends RedisHarness {
  readonly tokens: TokenStore;
  readonly cache: ClearableTokenCache;
}

const RICH = 1_000_000_000;

eachDatabase("changes of a token's limit during load", (open) => {
  const replicas: Replica[] = [];
  const kits: StoreKit[] = [];

  beforeAll(async () => {
    const url = await open();
    const redisUrl = (await freshRedis()).url;
    const prefix = newPrefix();
    for (const _ of [0, 1]) {
      const harness = await openRedisHarness(url, { redisUrl, prefix });
      const kit = await openStoreKit(url);
      kits.push(kit);
      const cache = createTokenCache({ raw: kit.database.raw, clock: kit.clock });
      const announce = async () => {
        await harness.ledger.followTokenLimits();
        for (const one of replicas) one.cache.clear();
      };
      const tokens = createTokenStore({ ...kit, vault: (kits[0] ?? kit).vault, announce, tokens: cache });
      replicas.push({ ...harness, tokens, cache });
    }
  });
  afterAll(async () => {
    for (const { close } of replicas) await close();
    for (const { database } of kits) await database.close();
  });

  const call = async ({ ledger, cache }: Replica, ids: Ids, wanted: number) => {
    const token = await cache.find(ids.keyHash);
    if (!token) throw new Error("the token no longer exists");
    const hold = await ledger.hold({
      requestId: requestId(),
      userId: ids.user,
      tokenId: ids.token,
      amount: quota(wanted),
      isCharged: true,
      grant: token.isUnlimited ? "unlimited" : quota(token.remainQuota + token.usedQuota),
      grantRevision: token.revision,
    });
    if (!isRefusal(hold)) await ledger.settle(createSettlement(hold, wanted));
  };
  const run = async (one: Step, ids: Ids): Promise<unknown> => {
    const on = replicas[one.replica] as Replica;
    const { user, token } = ids;
    if (one.does === "call") return call(on, ids, one.amount);
    if (one.does === "set") return on.tokens.update(user, token, { remain_quota: one.left });
    if (one.does === "switch") return on.tokens.update(user, token, { unlimited_quota: Number(one.isUnlimited) });
    if (one.does === "move") return on.tokens.update(user, token, {}, { remainFrom: (left) => left + one.by });
    return on.ledger.change({ requestId: requestId(), kind: "topup", userId: user, quota: quota(one.amount) });
  };

  // @weakness Money: A changed limit of a key does not reach the live balances until its next call
  it(
    "leaves the same limit in Redis as in the database, whatever runs at the same time",
    { timeout: 120_000 },
    async () => {
      const [first, second] = replicas as [Replica, Replica];
      const { vault } = kits[0] as StoreKit;
      const accounts = createTestAccounts(first);
      await fc.assert(
        fc.asyncProperty(rounds, async (some) => {
          const user = await accounts.addUser(RICH);
          const { id, key } = await first.tokens.create(
            user,
            tokenFields({ remain_quota: 10_000 }, () => true),
          );
          const ids = { user, token: id, keyHash: vault.hashKey(key) };
          for (const steps of some) await Promise.all(steps.map((one) => run(one, ids)));
          for (const { ledger } of [first, second, first]) await ledger.flush();
          const { redis, database } = first;
          const report = await audit({ redis, database, withSums: true, isRepairing: false, pauseMs: 10 });
          expect(report.differences).toEqual([]);
          expect(report.busy).toBe(0);
        }),
        { numRuns: propertyRuns(open.kind === "sqlite" ? 15 : 6), endOnFailure: true },
      );
    },
  );
});

interface Ids {
  readonly user: number;
  readonly keyHash: string;
  readonly token: number;
}
