import {
  LOG_TYPE,
  type OptionPrice,
  type OptionRow,
  type PlannedPrice,
  type PricePlan,
  type PricePreview,
} from "@fairway/wire";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { readCode, setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";
import { createLogWriter } from "../../storage/log-rows.ts";
import { priceOptionDefaults } from "../../snapshot/option-defaults.ts";
import { applyDuePrices } from "./apply-due.ts";

const HOUR = 3_600;

eachDatabase("planned prices", (open) => {
  let app: ManagementApp;
  let root: Members["root"];

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    ({ root } = await signInMembers(app));
    await setOptions(root, {
      ModelRatio: '{"ours":1.25,"other":0.123456789}',
      CompletionRatio: '{"ours":4}',
      CacheRatio: '{"ours":0.5}',
    });
  });
  afterAll(() => app.close());

  const now = () => Math.floor(app.clock.now() / 1000);
  const plan = (starts_at: number, prices: readonly PlannedPrice[]) =>
    root.data<PricePlan>(root.post("/api/price/plan", { starts_at, prices }));
  const list = () => root.data<PricePlan[]>(root.get("/api/price/plan"));
  const cancel = (id: number) => root.post(`/api/price/plan/${id}/cancel`, undefined);
  const charged = (model: string) => {
    const price = app.snapshots.current().prices.charged(model);
    return price?.kind === "tokens" ? [price.modelRatio, price.completionRatio, price.cacheRatio] : price?.modelPrice;
  };
  const apply = () =>
    applyDuePrices(
      {
        database: app.database,
        vault: app.vault,
        clock: app.clock,
        announce: app.snapshots.announce,
        writeLog: createLogWriter(false),
        defaults: priceOptionDefaults(),
      },
      async () => undefined,
    );
  const readOption = async (key: string) =>
    (await root.data<OptionRow[]>(root.get("/api/option/"))).find((row) => row.key === key)?.value;

  test("begin in their second, before any job has run, and become the options once", async () => {
    const at = now() + HOUR;
    const made = await plan(at, [{ model: "ours", input: "5", output: "20" }]);
    expect(made).toMatchObject({ state: "planned", starts_at: at, created_by: "root", ended_at: 0 });
    expect(charged("ours")).toEqual([1.25, 4, 0.5]);
    app.clock.move(HOUR - 1);
    expect(charged("ours")).toEqual([1.25, 4, 0.5]);
    app.clock.move(1);
    expect(charged("ours")).toEqual([2.5, 4, expect.any(Number)]);
    expect((await list())[0]).toMatchObject({ id: made.id, state: "applied", ended_at: at });
    expect(await readCode(cancel(made.id))).toBe("P17");
    const before = await readOption("ModelRatio");
    expect(before).toContain('"ours":1.25');
    await apply();
    await apply();
    expect(charged("ours")).toEqual([2.5, 4, expect.any(Number)]);
    expect(await readOption("ModelRatio")).toBe('{"ours":2.5,"other":0.123456789}');
    expect(await readOption("CacheRatio")).toBe("{}");
    const history = app.database.db.selectFrom("option_history").select("user_id").where("key", "=", "ModelRatio");
    expect(await history.execute()).toHaveLength(2);
    const events = app.database.db.selectFrom("events").select("data").where("type", "=", "price.changed");
    expect((await events.execute()).map(({ data }) => JSON.parse(data) as unknown)).toEqual([
      { id: made.id, models: ["ours"], starts_at: at, by: "root" },
    ]);
  });

  test("follow each other, and a cancelled one never begins", async () => {
    const at = now() + HOUR;
    const first = await plan(at, [{ model: "ours", call: "0.04" }]);
    const dropped = await plan(at + 1, [{ model: "ours", input: "100" }]);
    const last = await plan(at + 2, [{ model: "ours", input: "8", output: "8", cached: "2" }]);
    expect((await list()).slice(0, 3).map(({ id }) => id)).toEqual([first.id, dropped.id, last.id]);
    await root.data(cancel(dropped.id));
    app.clock.move(HOUR);
    expect(charged("ours")).toBe(0.04);
    // The next plan is prepared while the first one is in force.
    await app.snapshots.refresh();
    app.clock.move(1);
    expect(charged("ours")).toBe(0.04);
    app.clock.move(1);
    expect(charged("ours")).toEqual([4, 1, 0.25]);
    await apply();
    expect(charged("ours")).toEqual([4, 1, 0.25]);
    expect(await readCode(cancel(dropped.id))).toBe("P17");
    expect(await readCode(cancel(9_999))).toBe("P16");
  });

  test.each<[string, PlannedPrice]>([
    ["without a price", { model: "ours" }],
    ["of both kinds", { model: "ours", input: "1", call: "1" }],
    ["of output without input", { model: "ours", output: "1" }],
    ["of output above free input", { model: "ours", input: "0", output: "1" }],
  ])("a price %s is refused", async (_, price) => {
    expect(await readCode(root.post("/api/price/plan", { starts_at: now() + 60, prices: [price] }))).toBe("P12");
    expect(await readCode(root.post("/api/price/preview", { prices: [price] }))).toBe("P12");
  });

  test("a time that has passed is refused", async () => {
    const prices = [{ model: "ours", input: "1" }];
    for (const starts_at of [now(), now() + 400 * 24 * HOUR])
      expect(await readCode(root.post("/api/price/plan", { starts_at, prices }))).toBe("P15");
  });

  test("what yesterday would have cost is computed row by row", async () => {
    await setOptions(root, { ModelRatio: '{"ours":1}', CompletionRatio: '{"ours":2}', CacheRatio: '{"ours":0.5}' });
    const row = (model: string, ago: number, tokens: readonly [number, number, number], quota: number) => ({
      user_id: 1,
      username: "root",
      created_at: now() - ago,
      type: LOG_TYPE.consume,
      model_name: model,
      group: "default",
      prompt_tokens: tokens[0],
      completion_tokens: tokens[1],
      quota,
      other: JSON.stringify({ group_ratio: 1, cache_tokens: tokens[2] }),
    });
    await insertLogs(app.database, [
      // 600 + 400 × 0.5 + 500 × 2
      row("ours", 60, [1_000, 500, 400], 1_800),
      row("ours", 2 * HOUR, [1_000, 0, 0], 1_000),
      // Half of this charge was for something else, which grows in proportion.
      row("ours", 3 * HOUR, [1_000, 0, 0], 2_000),
      row("ours", 30 * HOUR, [1_000, 0, 0], 1_000),
      row("other", 60, [1_000, 0, 0], 777),
    ]);
    const prices = [{ model: "ours", input: "4", output: "4", cached: "4" }];
    const preview = await root.data<PricePreview>(root.post("/api/price/preview", { prices }));
    expect(preview).toEqual({
      complete: true,
      models: [{ model: "ours", requests: 3, charged: 4_800, would_charge: 3_000 + 2_000 + 4_000 }],
    });
    const rows = await root.data<OptionPrice[]>(root.get("/api/option/prices"));
    expect(rows.find(({ model }) => model === "ours")?.price?.model_ratio).toBe(1);
  });
});
