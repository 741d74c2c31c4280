import { createDatabase } from "@fairway/testkit/databases";
import type { ChannelPause } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  const { admin } = members;
  for (const [name, tag, type] of [
    ["east", "eu", 1],
    ["west", "us", 1],
    ["north", "eu", 14],
  ] as const)
    await admin.data(admin.post("/api/channel/", { name, tag, type, key: "k", models: "m" }));
});
afterAll(() => app.close());

const pause = (body: object) => members.admin.data<ChannelPause>(members.admin.post("/api/pause/", body));
const list = () => members.admin.data<ChannelPause[]>(members.admin.get("/api/pause/"));
const resume = (id: number) =>
  members.admin.data<ChannelPause>(members.admin.post(`/api/pause/${id}/resume`, undefined));
const names = ({ channels }: ChannelPause) => channels.map(({ name }) => name);

test("pauses by provider, by tag and by selection, and remembers what it switched off", async () => {
  const now = Math.floor(app.clock.now() / 1000);
  const byProvider = await pause({ filter: { type: [1] }, for_seconds: 3_600, reason: "outage" });
  expect(byProvider).toMatchObject({ until: now + 3_600, until_tests: false, end: "", reason: "outage" });
  expect(names(byProvider)).toEqual(["east", "west"]);
  // Only what still serves is taken by the next pause.
  const byTag = await pause({ filter: { tag: "eu" }, until_tests: true });
  expect(names(byTag)).toEqual(["north"]);
  expect((await list()).map(({ id }) => id)).toEqual([byTag.id, byProvider.id]);
  expect(await resume(byProvider.id)).toMatchObject({ end: "person", ended_at: now });
  expect(await resume(byProvider.id)).toMatchObject({ end: "person" });
  await resume(byTag.id);
  const rows = await app.database.db.selectFrom("channels").select("status").execute();
  expect(rows.map(({ status }) => status)).toEqual([1, 1, 1]);
  const audited = app.database.db.selectFrom("audit_log").select(["action", "target"]);
  const actions = await audited.where("action", "in", ["pauseCreate", "pauseResume"]).orderBy("id").execute();
  expect(actions[0]).toEqual({ action: "pauseCreate", target: `pause ${byProvider.id}` });
});

test("refuses an empty selection, unknown pauses and users", async () => {
  const { admin, user } = members;
  expect(await readCode(admin.post("/api/pause/", {}))).toBe("CH28");
  expect(await readCode(admin.post("/api/pause/", { filter: {} }))).toBe("CH28");
  expect(await readCode(admin.post("/api/pause/", { filter: { tag: "mars" } }))).toBe("CH28");
  expect(await readCode(admin.post("/api/pause/", { ids: [1], for_seconds: 2_600_000 }))).toBe("G2");
  expect(await readCode(admin.post("/api/pause/999/resume", undefined))).toBe("CH29");
  expect((await user.get("/api/pause/")).body).toMatchObject({ success: false });
});
