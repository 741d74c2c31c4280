import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../../test/kit/store-kit.ts";
import { createLog } from "../../../observability/log.ts";
import { migrate } from "../migrate.ts";

eachDatabase("books of an installation that is older than their explanation", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  const run = (sql: string) => kit.database.raw.run(sql, []);
  const user = (id: number, role: number, quota: number, requests = 0) =>
    run(`insert into users (id, username, username_key, password, display_name, role, status, quota, request_count,
      "group", aff_code, created_at) values (${id}, 'u${id}', 'u${id}', '', '', ${role}, 1, ${quota}, ${requests},
      'default', 'a${id}', 5)`);
  const row = (request: string, kind: string, userId: number, quota: number) =>
    run(`insert into ledger (request_id, kind, user_id, token_id, channel_id, quota, detail, created_at)
      values ('${request}', '${kind}', ${userId}, 3, 4, ${quota}, '', 1)`);
  const upgrade = async () => {
    await run("delete from opening_counters");
    await run("delete from schema_versions where version >= 23");
    await migrate(kit.database, {
      log: createLog({ level: "off", format: "text", out: process.stderr }),
      mode: "auto",
    });
  };
  const firstBalances = () =>
    kit.database.raw.rows("select user_id, quota, created_at from ledger where kind = 'gift'", []);
  const openings = () => kit.database.raw.rows("select counter, id, amount from opening_counters order by counter", []);

  test("gets a ledger row for the first balance of root, once, and for no other one", async () => {
    await user(1, 100, 100_000_000 - 70);
    await user(2, 100, 500);
    await user(3, 1, 100_000_000);
    await row("one", "consume", 1, -70);
    for (let time = 0; time < 2; time += 1) {
      await upgrade();
      expect(await firstBalances()).toEqual([{ user_id: 1, quota: 100_000_000, created_at: 5000 }]);
      expect(await openings()).toEqual([]);
    }
  });

  test("gets what imported counters had, where there was an import", async () => {
    await user(4, 1, 20, 9);
    await row("import-user-4", "adjust", 4, 30);
    await row("import-user-4", "consume", 4, -10);
    await run(`insert into tokens (id, user_id, key_hash, key_sealed, status, name, created_time, accessed_time,
      expired_time, remain_quota, unlimited_quota, model_limits_enabled, model_limits, allow_ips, used_quota, "group")
      values (3, 4, 'h', '', 1, '', 0, 0, -1, 0, 0, 0, '', '', 200, '')`);
    await run("update users set request_count = 1 where id = 1");
    await upgrade();
    expect(await openings()).toEqual([
      { counter: "requests", id: 4, amount: 8 },
      { counter: "token_used", id: 3, amount: 120 },
    ]);
  });
});
