import { freshRedis } from "@fairway/testkit/databases";
import type { Service } from "@fairway/testkit/services";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bump } from "../../../storage/revisions.ts";
import { quota } from "../../money/quota.ts";
import { isRefusal } from "../ledger.ts";
import { requestId } from "../test-harness.contract.ts";
import { openHarnesses } from "./traffic.contract.ts";

describe("the token limit in Redis", () => {
  let service: Service;
  let harnesses: Awaited<ReturnType<typeof openHarnesses>>;
  beforeAll(async () => {
    service = await freshRedis();
    harnesses = await openHarnesses(service, { isPair: false });
  });
  afterAll(() => harnesses.harness.close());

  /** Reserves on a replica whose copy of the token has this limit. */
  const hold = async (tokenId: number, grant: number | "unlimited", grantRevision: number, amount = 1) => {
    const answer = await harnesses.harness.ledger.hold({
      requestId: requestId(),
      userId: harnesses.user,
      tokenId,
      amount: quota(amount),
      isCharged: true,
      grant: grant === "unlimited" ? grant : quota(grant),
      grantRevision,
    });
    return isRefusal(answer) ? answer.refused : "granted";
  };
  const readTokenGrant = async (tokenId: number) => {
    const { redis } = harnesses.harness;
    return redis.sendOne({ command: "hget", args: [redis.keys.token(harnesses.user, tokenId), "g"] }, 2_000);
  };

  it("changes with a newer copy of the token and ignores an older one", async () => {
    const token = await harnesses.accounts.addToken(harnesses.user, 500);
    expect(await hold(token, 500, 1)).toBe("granted");
    expect(await hold(token, 100, 2)).toBe("granted");
    expect(await hold(token, 500, 1, 400)).toBe("token");
    expect(await hold(token, "unlimited", 1, 400)).toBe("token");
    expect(await readTokenGrant(token)).toBe("100");
    expect(await hold(token, "unlimited", 3, 400)).toBe("granted");
    expect(await readTokenGrant(token)).toBe("u");
  });

  it("is newer than any older copy after the account was loaded from the database", async () => {
    const { database } = harnesses.harness;
    const token = await harnesses.accounts.addToken(harnesses.user, 300);
    await database.transaction((tx) => bump(tx, database.kind, "tokens"));
    await database.transaction((tx) => bump(tx, database.kind, "tokens"));
    expect(await hold(token, 300, 2)).toBe("granted");
    expect(await hold(token, 9_000, 1, 400)).toBe("token");
    expect(await readTokenGrant(token)).toBe("300");
  });
});
