import { eachDatabase } from "@fairway/testkit/databases";
import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { readRevisions } from "../../storage/revisions.ts";
import { newFields } from "../channels/input.ts";
import { createChannelStore, type ChannelStore } from "../channels/store.ts";
import { runPauses } from "./run-pauses.ts";
import { createPauseStore, type NewPause, type PauseStore } from "./store.ts";

const PAUSE: NewPause = { userId: 1, username: "root", reason: "outage", until: 0, untilTests: false };

eachDatabase("pauses of channels", (open) => {
  let kit: StoreKit;
  let channels: ChannelStore;
  let store: PauseStore;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    channels = createChannelStore(kit);
    store = createPauseStore(kit);
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    for (const table of ["channels", "abilities", "channel_pauses"] as const)
      await kit.database.db.deleteFrom(table).execute();
  });

  const create = async (status = 1) =>
    (await channels.create({ ...newFields({ name: "one", models: "a" }, () => true), status }, ["sk"]))[0] ?? 0;
  const statuses = async (ids: readonly number[]) =>
    Promise.all(ids.map(async (id) => (await channels.get(id))?.status));
  const served = async () => {
    const rows = await kit.database.db.selectFrom("abilities").select("channel_id").where("enabled", "=", 1).execute();
    return rows.map(({ channel_id: id }) => id).toSorted((a, b) => a - b);
  };
  const pause = async (ids: readonly number[], more: Partial<NewPause> = {}) => {
    const id = (await store.create(ids, { ...PAUSE, ...more })) ?? 0;
    const row = await store.find(id);
    if (!row) throw new Error("no pause was made");
    return row;
  };
  const run = (test: (id: number) => Promise<boolean> = () => Promise.resolve(false)) =>
    runPauses({ store, clock: kit.clock, test }, () => Promise.resolve());

  test("the enabled channels of a selection go off together and come back together", async () => {
    const [one, two, off] = [await create(), await create(), await create(3)];
    const before = (await readRevisions(kit.database)).channels;
    const row = await pause([one, two, off, 999]);
    expect(await statuses([one, two, off])).toEqual([2, 2, 3]);
    expect(await served()).toEqual([]);
    expect((await readRevisions(kit.database)).channels).not.toBe(before);
    expect(await store.show([row])).toMatchObject([
      {
        reason: "outage",
        created_by: "root",
        channels: [
          { id: one, paused: true },
          { id: two, paused: true },
        ],
      },
    ]);
    expect(JSON.parse((await channels.get(one))?.other_info ?? "")).toMatchObject({ status_reason: "Paused: outage" });
    expect(await store.resume(row)).toEqual([one, two]);
    expect(await store.end(row.id, "person")).toBe(true);
    expect(await store.end(row.id, "time")).toBe(false);
    expect(await statuses([one, two, off])).toEqual([1, 1, 3]);
    expect(await served()).toEqual([one, two]);
    expect(await store.create([off], PAUSE)).toBeUndefined();
  });

  test("whatever people change in the meantime stays as they left it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("leave", "enable", "disable", "delete"), { minLength: 1, maxLength: 5 }),
        async (acts) => {
          const ids: number[] = [];
          for (const _act of acts) ids.push(await create());
          const row = await pause(ids);
          for (const [at, act] of acts.entries()) {
            const id = ids[at] ?? 0;
            if (act === "enable") await channels.update(id, { status: 1 });
            if (act === "disable") await channels.update(id, { status: 2 }, { cause: { reason: "mine" } });
            if (act === "delete") await channels.remove([id]);
          }
          await store.resume(row);
          const wanted = { leave: 1, enable: 1, disable: 2, delete: undefined };
          expect(await statuses(ids)).toEqual(acts.map((act) => wanted[act]));
        },
      ),
      { numRuns: 12 },
    );
  });

  test("a pause ends at its time, and not before", async () => {
    const id = await create();
    const later = await create();
    const due = await pause([id], { until: START_SECONDS });
    await pause([later], { until: START_SECONDS + 60 });
    await pause([await create()]);
    await run();
    expect(await statuses([id, later])).toEqual([1, 2]);
    expect(await store.find(due.id)).toMatchObject({ ended_at: START_SECONDS, ended_how: "time" });
    expect(await store.listRunning()).toHaveLength(2);
  });

  test("channels of a pause until tests pass come back one by one", async () => {
    const [good, bad] = [await create(), await create()];
    const row = await pause([good, bad], { untilTests: true });
    const tested: number[] = [];
    const probe = (id: number) => {
      tested.push(id);
      return Promise.resolve(id === good);
    };
    await run(probe);
    expect(await statuses([good, bad])).toEqual([1, 2]);
    expect(await store.find(row.id)).toMatchObject({ ended_at: 0 });
    // The next round is a minute later.
    await run(probe);
    expect(tested).toEqual([good, bad]);
    await kit.database.db
      .updateTable("channel_pauses")
      .set({ tested_at: START_SECONDS - 60 })
      .execute();
    await run(() => Promise.resolve(true));
    expect(await statuses([good, bad])).toEqual([1, 1]);
    expect(await store.find(row.id)).toMatchObject({ ended_how: "tests" });
  });

  test("tests begin at the time of a pause that has both", async () => {
    const id = await create();
    await pause([id], { until: START_SECONDS + 60, untilTests: true });
    await run(() => Promise.reject(new Error("tested too early")));
    expect(await statuses([id])).toEqual([2]);
  });

  test("a pause without channels left ends", async () => {
    const id = await create();
    const row = await pause([id]);
    await channels.update(id, { status: 1 });
    await run();
    expect(await store.find(row.id)).toMatchObject({ ended_how: "person" });
  });
});
