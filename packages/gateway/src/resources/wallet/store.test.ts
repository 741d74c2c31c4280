import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { quietLog } from "../../../test/kit/support.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createSqlLedger } from "../../billing/ledger/sql/sql-ledger.ts";
import { createLogWriter } from "../../storage/log-rows.ts";
import { createRedemptionStore } from "../redemptions/store.ts";
import { createWalletStore, type WalletStore } from "./store.ts";

eachDatabase("wallet store", (open) => {
  let kit: StoreKit;
  let store: WalletStore;
  const ANN = { userId: 0, username: "ann" };

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    const { database, clock } = kit;
    store = createWalletStore({
      ...kit,
      ledger: createSqlLedger({ database: database.raw, clock, log: quietLog }),
      writeLog: createLogWriter(false),
      formatQuota: (quota) => `${quota} units`,
    });
    ANN.userId = await createUser(kit);
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    for (const table of ["redemptions", "top_ups", "logs", "ledger"] as const)
      await kit.database.db.deleteFrom(table).execute();
    await kit.database.db.updateTable("users").set({ quota: 0 }).execute();
  });

  const balance = async () =>
    (await kit.database.db.selectFrom("users").select("quota").executeTakeFirstOrThrow()).quota;

  test("a code is worth its quota once, however many ask at once", async () => {
    const [code = ""] = await createRedemptionStore(kit).create({ userId: 1, name: "n", quota: 70, count: 1 });
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => store.redeem(ANN, code)));
    expect(outcomes.filter((outcome) => "quota" in outcome)).toEqual([{ quota: 70 }]);
    expect(outcomes.filter((outcome) => "refused" in outcome)).toEqual(
      Array.from({ length: 9 }, () => ({ refused: "code_redeemed" })),
    );
    expect(await balance()).toBe(70);
    expect(await kit.database.db.selectFrom("logs").select(["content", "type"]).execute()).toMatchObject([{ type: 1 }]);
    expect(await store.redeem(ANN, "unknown")).toMatchObject({ refused: "code_invalid" });
  });

  test("a code that would take the balance beyond what can be read stays unused", async () => {
    const codes = createRedemptionStore(kit);
    const [code = ""] = await codes.create({ userId: 1, name: "n", quota: Number.MAX_SAFE_INTEGER, count: 1 });
    await kit.database.db.updateTable("users").set({ quota: 1 }).execute();
    await expect(store.redeem(ANN, code)).rejects.toMatchObject({ code: "U16" });
    expect(await balance()).toBe(1);
    expect(await kit.database.db.selectFrom("logs").select("id").execute()).toEqual([]);
    await kit.database.db.updateTable("users").set({ quota: 0 }).execute();
    expect(await store.redeem(ANN, code)).toEqual({ quota: Number.MAX_SAFE_INTEGER });
  });

  test("an order is credited once, however often it is paid", async () => {
    await store.openOrder({
      userId: ANN.userId,
      amount: 1,
      money: "7.30",
      quota: 500,
      tradeNo: "T1",
      method: "alipay",
    });
    expect(await store.markPaid("T1", 731n, "g")).toBe("wrong money");
    expect(await store.markPaid("T2", 730n, "g")).toBe("unknown order");
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => store.markPaid("T1", 730n, "g")));
    expect(outcomes.filter((outcome) => outcome === "credited")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "known")).toHaveLength(7);
    expect(await balance()).toBe(500);
    await expect(
      store.openOrder({ userId: 1, amount: 1, money: "1.00", quota: 1, tradeNo: "T1", method: "wxpay" }),
    ).rejects.toThrow();
  });
});

async function createUser({ database }: StoreKit): Promise<number> {
  await database.db
    .insertInto("users")
    .values({
      username: "ann",
      username_key: "ann",
      password: "",
      display_name: "",
      role: 1,
      status: 1,
      email: null,
      github_id: null,
      github_uid: null,
      wechat_id: null,
      telegram_id: null,
      linux_do_id: null,
      oidc_id: null,
      quota: 0,
      group: "default",
      aff_code: "a",
      setting: null,
      totp_secret: null,
      created_at: 0,
      deleted_at: null,
    })
    .execute();
  return (await database.db.selectFrom("users").select("id").executeTakeFirstOrThrow()).id;
}
