import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, readRefusal, signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;
const HOUR = 3_600;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  const row = (user_id: number, username: string, model_name: string, created_at: number) => ({
    user_id,
    username,
    model_name,
    created_at,
    token_used: 2,
    count: 1,
    quota: 5,
  });
  const ann = members.user.userId;
  await app.database.db
    .insertInto("quota_data")
    .values([
      row(1, "root", "b", HOUR),
      row(1, "root", "a", HOUR),
      row(ann, "ann", "a", HOUR),
      row(ann, "ann", "a", 2 * HOUR),
    ])
    .execute();
});
afterAll(() => app.close());

test("administrators see the sum of all users, or one by name", async () => {
  const { admin } = members;
  expect(
    await admin.data(admin.get("/api/data/?username=&start_timestamp=0&end_timestamp=99999&default_time=hour")),
  ).toEqual([
    { id: 0, user_id: 0, username: "", model_name: "a", created_at: HOUR, token_used: 4, count: 2, quota: 10 },
    { id: 0, user_id: 0, username: "", model_name: "b", created_at: HOUR, token_used: 2, count: 1, quota: 5 },
    { id: 0, user_id: 0, username: "", model_name: "a", created_at: 2 * HOUR, token_used: 2, count: 1, quota: 5 },
  ]);
  expect(await admin.data(admin.get("/api/data?username=ann"))).toMatchObject([
    { username: "ann", created_at: HOUR, user_id: members.user.userId },
    { created_at: 2 * HOUR },
  ]);
  expect(await admin.data(admin.get("/api/data/?username=an%25"))).toEqual([]);
  expect(await readCode(members.user.get("/api/data/"))).toBe("AU7");
});

test("users see their own, over at most 30 days", async () => {
  const { user } = members;
  expect(
    await user.data(user.get("/api/data/self/?start_timestamp=3600&end_timestamp=3600&username=root")),
  ).toMatchObject([{ username: "ann" }]);
  expect(await user.data(user.get("/api/data/self?start_timestamp=1&end_timestamp=2592001"))).toHaveLength(2);
  expect(await readRefusal(user.get("/api/data/self?start_timestamp=1&end_timestamp=2592002"))).toEqual([
    200,
    "H2",
    "The time span cannot exceed 1 month.",
  ]);
});
