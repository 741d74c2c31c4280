import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { buildBatchRow } from "../../../test/kit/batch-row.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import type { BatchPhase } from "../../storage/tables/schema-batches.ts";
import { newFields } from "./input.ts";
import { createChannelStore, type ChannelStore } from "./store.ts";

eachDatabase("channels at which batches run", (open) => {
  let kit: StoreKit;
  let store: ChannelStore;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createChannelStore(kit);
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    for (const table of ["channels", "abilities", "batches"] as const)
      await kit.database.db.deleteFrom(table).execute();
  });

  const create = async (name: string, status = 1) =>
    (await store.create({ ...newFields({ name, models: "a" }, () => true), status }, ["sk-1"]))[0] ?? 0;
  const run = async (channel: number, phase: BatchPhase) => {
    const row = buildBatchRow({ channel_id: channel, phase });
    await kit.database.db.insertInto("batches").values(row).execute();
    return row.id;
  };
  const phases = async () =>
    (await kit.database.db.selectFrom("batches").select(["phase", "error"]).orderBy("created_at").execute()).map(
      ({ phase, error }) => `${phase} ${error}`.trim(),
    );
  const left = async () =>
    (await kit.database.db.selectFrom("channels").select("name").orderBy("id").execute()).map(({ name }) => name);
  const refusal = (channels: string, count: number): unknown =>
    expect.objectContaining({ key: "channel_has_batches", values: { count: String(count), channels } });

  test.each(["creating", "open", "ended"] as const)("stay while one of them is %s", async (phase) => {
    const id = await create("busy");
    await run(id, phase);
    await run(id, "settled");
    await expect(store.remove([id])).rejects.toEqual(refusal(`busy (#${id})`, 1));
    expect(await left()).toEqual(["busy"]);
    expect(await store.remove([id], { isForced: true })).toBe(1);
    expect([await left(), await phases()]).toEqual([[], ["stuck channel_deleted", "settled"]]);
  });

  test("batches that have ended in any way keep no channel", async () => {
    const id = await create("done");
    for (const phase of ["settled", "refused", "stuck"] as const) await run(id, phase);
    expect(await store.remove([id])).toBe(1);
    expect(await phases()).toEqual(["settled", "refused", "stuck"]);
  });

  test("a call for several deletes none of them, and names those with batches", async () => {
    const ids: number[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) ids.push(await create(name, 2));
    for (const id of ids.slice(1)) await run(id, "open");
    const [, b, c, d] = ids;
    const named = refusal(`b (#${b}), c (#${c}), d (#${d}), …`, 4);
    await expect(store.remove(ids)).rejects.toEqual(named);
    await expect(store.removeDisabled()).rejects.toEqual(named);
    expect(await left()).toHaveLength(5);
    expect(await store.removeDisabled({ isForced: true })).toBe(5);
    expect(await phases()).toEqual(Array.from({ length: 4 }, () => "stuck channel_deleted"));
  });

  test("a selection loses the others, and has the reason of each that stays", async () => {
    const [free, busy] = [await create("free"), await create("busy")];
    await run(busy, "open");
    const refused = await store.removeEach([free, busy, 1_000_000]);
    expect([...refused]).toEqual([[busy, refusal(`busy (#${busy})`, 1)]]);
    expect(await left()).toEqual(["busy"]);
    expect([...(await store.removeEach([busy]))]).toHaveLength(1);
  });
});
