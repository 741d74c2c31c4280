import { eachDatabase } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/store-kit.ts";
import { createLog } from "../../observability/log.ts";
import { createJobRunner } from "./runner.ts";
import { createJobStore, type JobStore } from "./store.ts";

eachDatabase("jobs", (open) => {
  let kit: StoreKit;
  let store: JobStore;
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createJobStore(kit);
  });
  afterAll(() => kit.database.close());

  test("one job of a name runs at a time, also when two processes start it at once", async () => {
    const [one, two] = [createJobRunner(store, log), createJobRunner(createJobStore(kit), log)];
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const spec = { name: "alone", startedBy: 1, run: () => gate };
    const started = (await Promise.all([one.run(spec), two.run(spec)])).filter((job) => job !== undefined);
    expect(started).toHaveLength(1);
    expect(await one.run(spec)).toBeUndefined();
    release();
    await started[0]?.finished;
    const again = await two.run({ ...spec, run: async () => {} });
    expect(again).toBeDefined();
    await again?.finished;
  });

  test("a finished job shows what it did", async () => {
    const runner = createJobRunner(store, log);
    const job = await runner.run({
      name: "count",
      startedBy: 7,
      run: async (control) => {
        control.total(3);
        control.step(true);
        control.step(false);
        control.message("two of three");
      },
    });
    await job?.finished;
    expect(await store.get(job?.id ?? 0)).toMatchObject({
      name: "count",
      status: "done",
      done: 2,
      total: 3,
      failed: 1,
      message: "two of three",
      started_by: 7,
      finished_at: START_SECONDS,
    });
    expect((await store.latest())[0]?.id).toBe(job?.id);
  });

  test("a job that throws is failed and frees its name", async () => {
    const runner = createJobRunner(store, log);
    const spec = { name: "broken", startedBy: 0, run: () => Promise.reject(new Error("no")) };
    const job = await runner.run(spec);
    await job?.finished;
    expect((await store.get(job?.id ?? 0))?.status).toBe("failed");
    const next = await runner.run(spec);
    expect(next).toBeDefined();
    await next?.finished;
  });

  test("stopping interrupts what runs and starts nothing more", async () => {
    const runner = createJobRunner(store, log);
    const job = await runner.run({
      name: "long",
      startedBy: 0,
      run: ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    });
    await runner.stop();
    expect((await store.get(job?.id ?? 0))?.status).toBe("interrupted");
    expect(await runner.run({ name: "late", startedBy: 0, run: async () => {} })).toBeUndefined();
  });

  test("the lease of a dead process can be taken after a minute, and its job reads as interrupted", async () => {
    const id = await store.create("dead", 0);
    expect(await store.take("job:dead", "a")).toBe(true);
    expect(await store.take("job:dead", "b")).toBe(false);
    kit.clock.set(START_SECONDS + 61);
    expect((await store.get(id))?.status).toBe("interrupted");
    expect(await store.take("job:dead", "b")).toBe(true);
    await store.release("job:dead", "a");
    expect(await store.take("job:dead", "c")).toBe(false);
    await store.release("job:dead", "b");
    expect(await store.take("job:dead", "c")).toBe(true);
  });
});
