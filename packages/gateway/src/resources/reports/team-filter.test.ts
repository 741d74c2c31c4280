import { createDatabase } from "@fairway/testkit/databases";
import type { UsageReport } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../test/kit/members.ts";

/** The user filter of reports names teams as `team:SLUG`, and never a user of the same name. */

let app: ManagementApp;
let members: Members;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  const { root, user } = members;
  const team = await root.data<{ account_id: number }>(root.post("/api/team/", { name: "ann", slug: "lab" }));
  const at = { created_at: Math.floor(app.clock.now() / 1000) - 100, username: "ann" };
  await insertLogs(app.database, [
    { ...at, user_id: user.userId, account_kind: 0, quota: 3 },
    { ...at, user_id: team.account_id, account_kind: 1, quota: 5 },
    { ...at, user_id: team.account_id, account_kind: 1, quota: 7 },
  ]);
}, 60_000);
afterAll(() => app.close());

const readSum = async (query: string) => {
  const report = await members.admin.data<UsageReport>(members.admin.get(`/api/report/usage?by=model&${query}`));
  return [report.total.calls, report.total.quota];
};

test("a team is meant by its short name alone", async () => {
  expect(await readSum("username=team:lab")).toEqual([2, 12]);
  expect(await readSum("username=ann")).toEqual([1, 3]);
  expect(await readSum("")).toEqual([3, 15]);
  expect(await readSum("username=team:nothing")).toEqual([0, 0]);
  expect(await readSum(`username=team:lab&user_id=${members.user.userId}`)).toEqual([0, 0]);
});

test("a saved report reads the same filter", async () => {
  const { root } = members;
  const question = { by: ["model"], days: 7, username: "team:lab" };
  const saved = await root.data<{ id: number }>(root.post("/api/report/saved/", { name: "Lab", question }));
  const report = await root.data<UsageReport>(root.get(`/api/report/saved/${saved.id}/usage`));
  expect(report.total).toMatchObject({ calls: 2, quota: 12 });
});

test("people read their own calls, whatever they name", async () => {
  const { user } = members;
  const report = await user.data<UsageReport>(user.get("/api/report/self/usage?by=model&username=team:lab"));
  expect(report.total).toMatchObject({ calls: 1, quota: 3 });
});
