import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { quietLog } from "../../test/kit/support.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../test/kit/store-kit.ts";
import { accountRow } from "../identity/accounts/accounts.ts";
import { insertRow } from "../storage/inserts.ts";
import { AppError } from "../lib/app-error.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import type { Snapshot } from "../snapshot/types.ts";
import { createObjectId } from "./ids.ts";
import type { StoredObject } from "./stored-object.ts";
import { createObjectStore, type ObjectStore } from "./store.ts";
import { sweepObjects, type SweepDeps } from "./sweep.ts";

const DAY = 86_400;
let kit: StoreKit;
let store: ObjectStore;
let answers: (() => number)[] = [];
let deleted: string[] = [];

beforeAll(async () => {
  kit = await openStoreKit(await createDatabase("sqlite"));
  store = createObjectStore({ raw: kit.database.raw, clock: kit.clock });
});
afterAll(() => kit.database.close());
beforeEach(async () => {
  kit.clock.set(START_SECONDS);
  answers = [];
  deleted = [];
  await kit.database.raw.run("delete from upstream_objects", []);
  await kit.database.raw.run("delete from object_usage", []);
});

function createDeps(): SweepDeps {
  const channel = { id: 7, type: 1, keys: ["sk"], setting: {} } as unknown as ChannelRecord;
  return {
    store,
    clock: kit.clock,
    log: quietLog,
    hashKey: () => "0123456789abcdef",
    snapshots: { current: () => ({ channels: new Map([[7, channel]]) }) as unknown as Snapshot },
    call: async (_account, { below = "" }) => {
      deleted.push(below);
      const status = answers.shift()?.() ?? 200;
      if (status !== 200) throw new AppError("upstream_connect_failed");
      return { status, headers: {}, body: (async function* () {})() };
    },
  };
}

const sweep = () => sweepObjects(createDeps(), new AbortController().signal, () => Promise.resolve());

async function add(more: Partial<StoredObject>): Promise<StoredObject> {
  const object: StoredObject = {
    id: createObjectId("openai", "file", Date.now()),
    userId: 40_404,
    tokenId: 0,
    kind: "file",
    dialect: "openai",
    channelId: 7,
    keyMark: "0123456789abcdef",
    upstreamId: "file-UP1",
    name: "",
    mime: "",
    purpose: "",
    bytes: 10,
    state: "ready",
    facts: {},
    createdAt: START_SECONDS,
    expiresAt: 0,
    nextCheckAt: 0,
    ...more,
  };
  await store.create(object);
  return object;
}

function addUser(username: string): Promise<number> {
  return insertRow(kit.database.db, "users", accountRow({ username, passwordHash: "", createdAt: 1 }));
}

/** Columns that are not named have their empty value. */
async function addBatch(named: Readonly<Record<string, string | number>>): Promise<void> {
  const texts =
    "dialect group key_mark upstream_id request_id endpoint models input_file_id error_file_id wire terms metadata body_hash error";
  const numbers =
    "token_id channel_id total succeeded failed expired cancelled deposit charged created_at expires_at ended_at settled_at deleted_at next_poll_at polled_at polls failures revision";
  const all: Record<string, string | number> = { ...named };
  for (const name of texts.split(" ")) all[name] ??= "";
  for (const name of numbers.split(" ")) all[name] ??= 0;
  const names = Object.keys(all).map((name) => `"${name}"`);
  const marks = names.map(() => "?").join(", ");
  await kit.database.raw.run(`insert into batches (${names.join(", ")}) values (${marks})`, Object.values(all));
}

test("an upload of a dead process gives its room back after two hours", async () => {
  const userId = await addUser("ann");
  await add({ userId, state: "sending", nextCheckAt: START_SECONDS + 7_200 });
  await sweep();
  expect(await store.usage(userId)).toEqual({ files: 1, bytes: 10 });
  kit.clock.set(START_SECONDS + 7_200);
  await sweep();
  expect(await store.usage(userId)).toEqual({ files: 0, bytes: 0 });
});

test("an expired file gives its room back at once, and its row ends a week later", async () => {
  const userId = await addUser("ben");
  const at = START_SECONDS + 100;
  const object = await add({ userId, expiresAt: at, nextCheckAt: at });
  kit.clock.set(at);
  await sweep();
  expect(await store.find(object.id, { userId })).toMatchObject({ state: "expired" });
  expect(await store.usage(userId)).toEqual({ files: 0, bytes: 0 });
  kit.clock.set(at + 7 * DAY);
  await sweep();
  expect(await store.find(object.id, { userId })).toBeUndefined();
});

test("results of a batch that is not settled are deleted upstream after its settlement", async () => {
  const userId = await addUser("cid");
  const object = await add({ userId, purpose: "batch_output" });
  await addBatch({ id: "b", user_id: userId, phase: "ended", output_file_id: object.id });
  expect(await store.holdsResults(object)).toBe(true);
  await store.change(object, { state: "deleting", nextCheckAt: START_SECONDS, expiresAt: START_SECONDS + DAY });
  await sweep();
  expect(deleted).toEqual([]);
  expect(await store.usage(userId)).toEqual({ files: 0, bytes: 0 });
  await kit.database.raw.run("update batches set phase = 'settled' where id = 'b'", []);
  kit.clock.set(START_SECONDS + 60);
  await sweep();
  expect(deleted).toEqual(["/file-UP1"]);
  expect(await store.due(10)).toEqual([]);
});

test("files of a deleted user are deleted upstream, again after a failure, for a week", async () => {
  await add({});
  answers = [() => 503, () => 503];
  await sweep();
  expect(deleted).toEqual(["/file-UP1"]);
  await sweep();
  expect(deleted).toHaveLength(1);
  kit.clock.set(START_SECONDS + 60);
  await sweep();
  kit.clock.set(START_SECONDS + 600);
  await sweep();
  expect(deleted).toHaveLength(3);
  expect(await store.due(10)).toEqual([]);
  const rows = await kit.database.raw.rows("select id from upstream_objects", []);
  expect(rows).toEqual([]);
});
