import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../test/kit/store-kit.ts";
import { createObjectId, isObjectId } from "./ids.ts";
import type { StoredObject } from "./stored-object.ts";
import { createObjectStore, type ObjectStore } from "./store.ts";

const ROOM = { bytes: 100, files: 3 };

eachDatabase("objects of users", (open) => {
  let kit: StoreKit;
  let store: ObjectStore;
  let made = 0;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createObjectStore({ raw: kit.database.raw, clock: kit.clock });
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    kit.clock.set(START_SECONDS);
    await kit.database.raw.run("delete from upstream_objects", []);
    await kit.database.raw.run("delete from object_usage", []);
  });

  const build = (more: Partial<StoredObject> = {}): StoredObject => ({
    id: createObjectId("openai", "file", START_SECONDS * 1000 + made),
    userId: 1,
    tokenId: 11,
    kind: "file",
    dialect: "openai",
    channelId: 7,
    keyMark: "0123456789abcdef",
    upstreamId: `file-UP${++made}`,
    name: "a.jsonl",
    mime: "application/jsonl",
    purpose: "batch",
    bytes: 10,
    state: "ready",
    facts: {},
    createdAt: START_SECONDS,
    expiresAt: 0,
    nextCheckAt: 0,
    ...more,
  });

  const add = async (more: Partial<StoredObject> = {}, quota?: typeof ROOM) => {
    const object = build(more);
    await store.create(object, quota);
    return object;
  };

  test("a row comes back as it was written, and only to its user", async () => {
    const object = await add({ facts: { items: 2 }, name: "Prüfung.jsonl" });
    expect(await store.find(object.id, { userId: 1 })).toEqual(object);
    expect(await store.find(object.id, { userId: 2 })).toBeUndefined();
    expect(await store.find(object.id, { userId: 1, tokenId: 12 })).toBeUndefined();
    const found = await store.findAll([object.id, "file-unknown"], { userId: 1, tokenId: 11 });
    expect([...found.keys()]).toEqual([object.id]);
  });

  test("an id differs by its letters' case", async () => {
    const object = await add();
    const other = object.id.replace(/[a-z](?=[^a-z]*$)/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    expect(other).not.toBe(object.id);
    expect(await store.find(other, { userId: 1 })).toBeUndefined();
  });

  test("parallel uploads never take more than the quota", async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => add({ bytes: 40 }, ROOM)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await store.usage(1)).toEqual({ files: 2, bytes: 80 });
    expect(await store.total()).toEqual({ files: 2, bytes: 80 });
    await expect(add({ bytes: 40 }, ROOM)).rejects.toMatchObject({ code: "storage_quota_exceeded", status: 403 });
    await add({ bytes: 20 }, ROOM);
    await expect(add({ bytes: 0, dialect: "gemini" }, ROOM)).rejects.toMatchObject({ status: 429 });
  });

  test("usage follows the size, the state and the removal of a row, each once", async () => {
    const object = await add({ bytes: 50, state: "sending" });
    await store.change(object, { bytes: 30, state: "ready", upstreamId: "file-X" });
    expect(await store.usage(1)).toEqual({ files: 1, bytes: 30 });
    await store.change(object, { state: "expired" });
    expect(await store.usage(1)).toEqual({ files: 0, bytes: 0 });
    const second = await add({ bytes: 5 });
    const removals = await Promise.all([store.remove(second), store.remove(second)]);
    expect(removals.filter(Boolean)).toHaveLength(1);
    expect(await store.remove(object)).toBe(true);
    expect(await store.usage(1)).toEqual({ files: 0, bytes: 0 });
    expect(await store.change(object, { bytes: 1 })).toBe(false);
  });

  test("pages survive the deletion of the row they begin after, in both orders", async () => {
    const all = [];
    for (let at = 0; at < 5; at += 1) all.push(await add({ createdAt: START_SECONDS + Math.floor(at / 2) }));
    await add({ userId: 2 });
    await add({ state: "sending" });
    const read = async (isAscending: boolean) => {
      const ids: string[] = [];
      let after: { createdAt: number; id: string } | undefined;
      for (let more = true; more;) {
        const page = await store.list({ userId: 1 }, { kind: "file", dialect: "openai", isAscending, limit: 2, after });
        const last = page.objects.at(-1);
        ids.push(...page.objects.map(({ id }) => id));
        if (last) after = { createdAt: last.createdAt, id: last.id };
        if (last && ids.length === 2) await store.remove(last);
        more = page.hasMore;
      }
      return ids;
    };
    const ascending = await read(true);
    expect(ascending).toHaveLength(5);
    expect(ascending).toEqual(all.map(({ id }) => id));
    expect(await read(false)).toHaveLength(4);
  });

  test("expired rows are in no list", async () => {
    await add({ expiresAt: START_SECONDS + 10 });
    const list = () => store.list({ userId: 1 }, { kind: "file", dialect: "openai", isAscending: true, limit: 9 });
    expect((await list()).objects).toHaveLength(1);
    kit.clock.set(START_SECONDS + 10);
    expect((await list()).objects).toHaveLength(0);
  });

  test("objects of a deleted user are marked for the sweep, and no client sees them", async () => {
    const object = await add({ userId: 404 });
    await store.markOrphans(START_SECONDS + 100);
    expect(await store.find(object.id, { userId: 404 })).toBeUndefined();
    expect(await store.due(10)).toMatchObject([{ id: object.id, state: "deleting", expiresAt: START_SECONDS + 100 }]);
    expect(await store.usage(404)).toEqual({ files: 0, bytes: 0 });
  });
});

test("ids of later milliseconds sort behind earlier ones, whatever a collation thinks of case", () => {
  for (const dialect of ["openai", "anthropic", "gemini"] as const) {
    const ids = Array.from({ length: 50 }, (_, index) => createObjectId(dialect, "file", START_SECONDS * 1000 + index));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.toSorted(new Intl.Collator("en", { sensitivity: "base" }).compare)).toEqual(ids);
  }
});

test("ids have the form of their protocol and room for 128 random bits", () => {
  expect(createObjectId("openai", "file", Date.now())).toMatch(/^file-[0-9A-Za-z]{34}$/);
  expect(createObjectId("anthropic", "file", Date.now())).toMatch(/^file_[0-9A-Za-z]{34}$/);
  expect(createObjectId("anthropic", "batch", Date.now())).toMatch(/^msgbatch_[0-9A-Za-z]{34}$/);
  expect(createObjectId("gemini", "file", Date.now())).toMatch(/^[a-z0-9]{34}$/);
  expect(["a/b", "", "é", "a".repeat(129), "file-x"].map(isObjectId)).toEqual([false, false, false, false, true]);
});
