import { createDatabase } from "@fairway/testkit/databases";
import { LOG_TYPE, MAX_SAVED_REPORTS, type SavedReport, type UsageReport } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../../test/kit/log-rows.ts";
import { startManagementApp, type ManagementApp } from "../../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;
const QUESTION = { by: ["model"], days: 7, interval: "day", time_zone: "Europe/Berlin" };

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  const now = Math.floor(app.clock.now() / 1000);
  const call = { type: LOG_TYPE.consume, created_at: now - 3_600, model_name: "m", tags: "" };
  await insertLogs(app.database, [
    { ...call, user_id: members.user.userId, quota: 70, tags: "app=shop" },
    { ...call, user_id: members.user.userId, quota: 5 },
    { ...call, user_id: members.admin.userId, quota: 900 },
  ]);
}, 60_000);
afterAll(() => app.close());

const fail = async (reply: Promise<{ readonly body: unknown }>) => (await reply).body;

test("a report is saved, scheduled, run and deleted by its owner", async () => {
  const { user, admin } = members;
  const made = await user.data<SavedReport>(user.post("/api/report/saved/", { name: " weekly ", question: QUESTION }));
  expect(made).toMatchObject({ name: "weekly", question: QUESTION, cadence: "none", next_at: 0, mail: true, hour: 6 });
  const path = `/api/report/saved/${made.id}`;
  const scheduled = await user.data<SavedReport>(user.put(path, { cadence: "week", hour: 8 }));
  expect(scheduled).toMatchObject({ name: "weekly", question: QUESTION, cadence: "week", hour: 8 });
  expect(new Date(scheduled.next_at * 1000).getUTCDay()).toBe(1);
  expect(await user.data<SavedReport[]>(user.get("/api/report/saved/"))).toEqual([scheduled]);
  const report = await user.data<UsageReport>(user.get(`/api/report/saved/${made.id}/usage`));
  expect([report.total.quota, report.rows.length]).toEqual([75, 1]);
  const mailed = await user.data<{ types: string[] }>(user.get("/api/user/self/notifications"));
  expect(mailed.types).toContain("report.ready");
  for (const reply of [admin.get(`${path}/usage`), admin.put(path, { hour: 1 }), admin.delete(path)])
    expect(await fail(reply)).toMatchObject({ success: false, code: "RP1" });
  await user.data(user.delete(path));
  expect(await user.data<SavedReport[]>(user.get("/api/report/saved/"))).toEqual([]);
});

const SHARING = { shared: "app=~none", split: "even" };

test("the cost of some values is shared when a saved report is made, as a direct call shares it", async () => {
  const { user } = members;
  const question = { by: ["tag:app"], days: 7, ...SHARING };
  const made = await user.data<SavedReport>(user.post("/api/report/saved/", { name: "shared", question }));
  expect(made.question).toEqual(question);
  const path = `/api/report/saved/${made.id}`;
  const report = await user.data<UsageReport>(user.get(`${path}/usage`));
  const parts = report.rows.map((row) => [row["tag:app"], row.quota, row["shared"], row["total"]]);
  expect(parts).toEqual([
    ["shop", 70, 5, 75],
    ["", 5, -5, 0],
  ]);
  const { start, end } = report;
  const query = new URLSearchParams({ by: "tag:app", start: `${start}`, end: `${end}`, ...SHARING });
  const direct = await user.data<UsageReport>(user.get(`/api/report/self/usage?${query.toString()}`));
  expect([direct.columns, direct.rows]).toEqual([report.columns, report.rows]);
  const moved = await user.data<SavedReport>(user.put(path, { cadence: "month" }));
  expect(moved.question).toEqual(question);
  const plain = { by: ["tag:app"], days: 7 };
  expect((await user.data<SavedReport>(user.put(path, { question: plain }))).question).toEqual(plain);
  await user.data(user.delete(path));
});

test.each<readonly [string, Readonly<Record<string, string>>]>([
  ["model", SHARING],
  ["tag:app", { shared: "app=" }],
  ["tag:app", { shared: "app=a|env=b" }],
  ["tag:app", { split: "even" }],
  ["tag:app", { shared: "app=a", split: "a=1" }],
  ["tag:app", { shared: "app=a", split: "b=1.5" }],
  ["tag:app", { shared: Array.from({ length: 101 }, (_, at) => `app=${at}`).join("|") }],
])("by %s, %o is refused as a saved report with the words of a direct call", async (by, sharing) => {
  const { user } = members;
  const query = new URLSearchParams({ by, ...sharing });
  const direct = await fail(user.get(`/api/report/self/usage?${query.toString()}`));
  expect(direct).toMatchObject({ success: false, field: expect.stringMatching(/^(shared|split)$/) as unknown });
  const question = { by: [by], days: 7, ...sharing };
  const plain = { name: "plain", question: { by: [by], days: 7 } };
  const { id } = await user.data<SavedReport>(user.post("/api/report/saved/", plain));
  const saving = [
    user.post("/api/report/saved/", { name: "wrong", question }),
    user.put(`/api/report/saved/${id}`, { question }),
  ];
  for (const reply of saving) expect(await fail(reply)).toEqual(direct);
  await user.data(user.delete(`/api/report/saved/${id}`));
});

test("administrators save filters and fields of all users; from others they are refused or do nothing", async () => {
  const { user, admin } = members;
  const question = { ...QUESTION, by: ["user"], username: "" };
  const made = await admin.data<SavedReport>(admin.post("/api/report/saved/", { name: "all", question }));
  const report = await admin.data<UsageReport>(admin.get(`/api/report/saved/${made.id}/usage`));
  expect([report.total.quota, report.rows.length]).toEqual([975, 2]);
  expect(await fail(user.post("/api/report/saved/", { name: "all", question }))).toMatchObject({
    success: false,
    field: "by",
  });
  const foreign = { ...QUESTION, username: "boss", channel: 7, tags: "app=shop" };
  const own = await user.data<SavedReport>(user.post("/api/report/saved/", { name: "own", question: foreign }));
  const shown = await user.data<UsageReport>(user.get(`/api/report/saved/${own.id}/usage`));
  expect(shown.total.quota).toBe(70);
});

test.each([
  [{ name: "", question: QUESTION }, "name"],
  [{ name: "x", question: { ...QUESTION, by: ["nothing"] } }, "by"],
  [{ name: "x", question: { ...QUESTION, days: 401 } }, "question"],
  [{ name: "x", question: { ...QUESTION, interval: "year" } }, "question"],
  [{ name: "x", question: { ...QUESTION, time_zone: "Mars/Base" } }, "time_zone"],
  [{ name: "x", question: QUESTION, cadence: "hour" }, "cadence"],
  [{ name: "x", question: QUESTION, hour: 24 }, "hour"],
  [{ name: "x", question: { ...QUESTION, secret: 1 } }, "question"],
])("%j is refused with the field", async (body, field) => {
  const answer = (await fail(members.user.post("/api/report/saved/", body))) as { success: boolean; field?: string };
  expect([answer.success, answer.field?.split(".")[0]]).toEqual([false, field]);
});

test("receivers are people of a team of the owner; administrators name anyone", async () => {
  const { root, user, admin } = members;
  const body = { name: "shared", question: QUESTION, cadence: "month", attach: "csv" };
  const wanted = { ...body, receivers: ["boss"] };
  expect(await fail(user.post("/api/report/saved/", wanted))).toMatchObject({ success: false, field: "receivers" });
  const team = await root.data<{ id: number }>(root.post("/api/team/", { name: "Readers" }));
  for (const username of ["ann", "boss"])
    await root.data(root.post(`/api/team/${team.id}/members`, { username, role: "member" }));
  const made = await user.data<SavedReport>(user.post("/api/report/saved/", { ...body, receivers: ["BOSS", "ann"] }));
  expect(made).toMatchObject({ receivers: ["boss"], attach: "csv" });
  const mailed = await admin.data<{ types: string[] }>(admin.get("/api/user/self/notifications"));
  expect(mailed.types).toContain("report.ready");
  const path = `/api/report/saved/${made.id}`;
  expect(await user.data(user.put(path, { hour: 9 }))).toMatchObject({ receivers: ["boss"], attach: "csv", hour: 9 });
  expect(await user.data(user.put(path, { receivers: [], attach: "none" }))).toMatchObject({ receivers: [] });
  expect(await fail(user.put(path, { receivers: ["nobody"] }))).toMatchObject({ field: "receivers" });
  const anyone = await admin.data<SavedReport>(admin.post("/api/report/saved/", { ...wanted, receivers: ["ann"] }));
  expect(anyone.receivers).toEqual(["ann"]);
  await user.data(user.delete(path));
});

test("a team's reports read its own calls, are changed by its admins and seen by its viewers", async () => {
  const { root, user, admin } = members;
  const team = await root.data<{ id: number; account_id: number }>(root.post("/api/team/", { name: "Costs" }));
  const path = `/api/team/${team.id}/report/saved/`;
  await root.data(root.post(`/api/team/${team.id}/members`, { username: "ann", role: "admin" }));
  const now = Math.floor(app.clock.now() / 1000);
  await insertLogs(app.database, [
    { type: LOG_TYPE.consume, created_at: now - 60, model_name: "m", tags: "", user_id: team.account_id, quota: 31 },
  ]);
  // What an administrator may filter by stays that of the team.
  const question = { ...QUESTION, username: "boss", channel: 7 };
  const made = await user.data<SavedReport>(user.post(path, { name: "all", question, receivers: ["ann"] }));
  for (const who of [user, root, admin]) {
    const report = await who.data<UsageReport>(who.get(`${path}${made.id}/usage`));
    expect(report.total.quota).toBe(31);
  }
  for (const by of [["user"], ["channel"], ["team"]])
    expect(await fail(root.post(path, { name: "x", question: { ...QUESTION, by } }))).toMatchObject({ field: "by" });
  expect(await fail(user.post(path, { name: "x", question: QUESTION, receivers: ["boss"] }))).toMatchObject({
    field: "receivers",
  });
  const own = await user.data<SavedReport[]>(user.get("/api/report/saved/"));
  expect(own.map(({ id }) => id)).not.toContain(made.id);
  for (const reply of [user.get(`/api/report/saved/${made.id}/usage`), user.delete(`/api/report/saved/${made.id}`)])
    expect(await fail(reply)).toMatchObject({ code: "RP1" });
  const other = await root.data<{ id: number }>(root.post("/api/team/", { name: "Others" }));
  expect(await fail(root.get(`/api/team/${other.id}/report/saved/${made.id}/usage`))).toMatchObject({ code: "RP1" });
  const sharing = { by: ["tag:app", "actor"], days: 7, shared: "app=~none" };
  const shared = await user.data<SavedReport>(user.put(`${path}${made.id}`, { question: sharing }));
  expect(shared.question).toEqual(sharing);
  const alone = await user.data<UsageReport>(user.get(`${path}${made.id}/usage`));
  // Without anyone to share with, the cost stays where it is.
  expect(alone.rows.map((row) => [row.quota, row["shared"], row["total"]])).toEqual([[31, 0, 31]]);
  await user.data(user.delete(`${path}${made.id}`));
});

test("a person saves a bounded number of reports", async () => {
  const { root } = members;
  for (let n = 0; n < MAX_SAVED_REPORTS; n++)
    await root.data(root.post("/api/report/saved/", { name: `r${n}`, question: QUESTION }));
  expect(await fail(root.post("/api/report/saved/", { name: "more", question: QUESTION }))).toMatchObject({
    code: "RP3",
  });
  expect(await fail(root.post("/api/report/saved/", { name: "R7", question: QUESTION }))).toMatchObject({
    code: "RP2",
    field: "name",
  });
});
