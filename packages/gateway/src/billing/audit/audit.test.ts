import { freshRedis } from "@fairway/testkit/databases";
import { describe, expect, it } from "vitest";
import { audit } from "./audit.ts";
import { granted, requestId, createSettlement } from "../ledger/test-harness.contract.ts";
import { isRefusal } from "../ledger/ledger.ts";
import { quota } from "../money/quota.ts";
import { books, openHarnesses, RICH } from "../ledger/redis/traffic.contract.ts";

describe("balances in Redis", () => {
  it("are reported when they differ, and reloaded on request", async () => {
    const service = await freshRedis();
    const { harness, accounts, user, token } = await openHarnesses(service, { isPair: false });
    await granted(harness.ledger, user, token, 100).then((hold) => harness.ledger.settle(createSettlement(hold, 10)));
    await harness.ledger.flush();
    await harness.redis.sendOne({ command: "hincrby", args: [harness.redis.keys.user(user), "b", 5] }, 1_000);
    await harness.redis.sendOne({ command: "hincrby", args: [harness.redis.keys.token(user, token), "h", 3] }, 1_000);
    const found = await audit({ ...harness, withSums: false, isRepairing: true, pauseMs: 10 });
    expect(found).toMatchObject({ accounts: 2, busy: 0 });
    expect(found.differences.toSorted((a, b) => a.account.localeCompare(b.account))).toEqual([
      { what: "live reservations", account: `token ${token}`, found: 3, expected: 0 },
      { what: "live balance", account: `user ${user}`, found: RICH - 5, expected: RICH - 10 },
    ]);
    expect(await books(harness)).toEqual([]);
    const hold = await harness.ledger.hold({
      requestId: requestId(),
      userId: user,
      tokenId: 0,
      amount: quota(RICH - 9),
      isCharged: true,
    });
    expect(hold).toMatchObject({ refused: "user", needed: RICH - 9, available: RICH - 10 });
    await harness.database.run("update users set used_quota = used_quota + 1 where id = ?", [user]);
    expect((await accounts.user(user)).used_quota).toBe(11);
    expect(await books(harness)).toEqual([{ what: "ledger sum", account: `user ${user}`, found: 11, expected: 10 }]);
    await harness.database.run("delete from tokens where id = ?", [token]);
    expect(await audit({ ...harness, withSums: false, isRepairing: false, pauseMs: 10 })).toMatchObject({ busy: 0 });
    await harness.close();
  });

  it("apply the limit that the token owner sets", async () => {
    const service = await freshRedis();
    const { harness, accounts, user } = await openHarnesses(service, { isPair: false });
    const token = await accounts.addToken(user, 100);
    const ask = (amount: number, grant?: number | "unlimited") =>
      harness.ledger.hold({
        requestId: requestId(),
        userId: user,
        tokenId: token,
        amount: quota(amount),
        isCharged: true,
        ...(grant === undefined ? {} : { grant: grant === "unlimited" ? grant : quota(grant) }),
      });
    const first = await ask(60);
    if (isRefusal(first)) throw new Error("refused");
    await harness.ledger.settle(createSettlement(first, 60));
    expect(await ask(41)).toMatchObject({ refused: "token", needed: 41, available: 40 });
    expect(isRefusal(await ask(41, 101))).toBe(false);
    expect(await ask(1, 50)).toMatchObject({ refused: "token", needed: 1, available: -51 });
    expect(isRefusal(await ask(500, "unlimited"))).toBe(false);
    await harness.close();
  });
});
