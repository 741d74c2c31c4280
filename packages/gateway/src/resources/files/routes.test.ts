import { createDatabase } from "@fairway/testkit/databases";
import type { StoredFile, StoredFileUsage } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";
import { createObjectId } from "../../objects/ids.ts";
import type { StoredObject } from "../../objects/stored-object.ts";
import { createObjectStore } from "../../objects/store.ts";

let app: ManagementApp;
let members: Members;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
});
afterAll(() => app.close());

let made = 0;

async function add(userId: number, more: Partial<StoredObject> = {}): Promise<StoredObject> {
  made += 1;
  const object: StoredObject = {
    id: createObjectId("openai", "file", Date.now()),
    userId,
    tokenId: 3,
    kind: "file",
    dialect: "openai",
    channelId: 7,
    keyMark: "0123456789abcdef",
    upstreamId: "file-UPSTREAM",
    name: `${made}.pdf`,
    mime: "application/pdf",
    purpose: "user_data",
    bytes: 10,
    state: "ready",
    facts: { uri: "https://upstream.example/v1beta/files/x" },
    createdAt: 1_000 + made,
    expiresAt: 0,
    nextCheckAt: 0,
    ...more,
  };
  await createObjectStore({ raw: app.database.raw, clock: app.clock }).create(object);
  return object;
}

const list = (caller: "admin" | "user", path: string) => members[caller].data<StoredFile[]>(members[caller].get(path));

test("administrators see the files of all users, users their own without the channel", async () => {
  const mine = await add(members.user.userId);
  const other = await add(1, { purpose: "batch" });
  await add(1, { kind: "upload" });
  expect((await list("admin", "/api/file/")).map(({ id }) => id)).toEqual([other.id, mine.id]);
  expect(await list("admin", "/api/file/?purpose=batch")).toMatchObject([{ id: other.id, channel_id: 7, user_id: 1 }]);
  expect(await list("admin", `/api/file/?user_id=${members.user.userId}`)).toHaveLength(1);
  const own = await list("user", "/api/file/self?channel_id=7&user_id=1");
  expect(own).toMatchObject([{ id: mine.id, channel_id: 0, bytes: 10 }]);
  expect(JSON.stringify(own)).not.toMatch(/UPSTREAM|upstream|0123456789abcdef/);
  expect(await readCode(members.user.get("/api/file/"))).toBe("AU7");
});

test("a user reads how much is stored, and what the group may store", async () => {
  const usage = () => members.user.data<StoredFileUsage>(members.user.get("/api/file/usage"));
  expect(await usage()).toMatchObject({ max_files: 10_000, max_bytes: 10_240 * 1_048_576 });
  await setOptions(members.root, { FileGroupQuotas: '{"default":{"count":5,"megabytes":2}}' });
  expect(await usage()).toEqual({ files: 1, bytes: 10, max_files: 5, max_bytes: 2_097_152 });
});

test("a user deletes only own files, an administrator any", async () => {
  const [mine, other] = [await add(members.user.userId), await add(1)];
  expect(await readCode(members.user.delete(`/api/file/${other.id}`))).toBe("FI1");
  expect(await readCode(members.user.delete("/api/file/file-unknown"))).toBe("FI1");
  expect((await members.user.delete(`/api/file/${mine.id}`)).status).toBe(200);
  expect((await members.admin.delete(`/api/file/${other.id}`)).status).toBe(200);
  expect((await list("admin", "/api/file/")).map(({ id }) => id)).not.toContain(other.id);
});
