import { createDatabase } from "@fairway/testkit/databases";
import type { Budget, Token } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let user: Members["user"];

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  ({ user } = await signInMembers(app));
});
afterAll(() => app.close());

const list = () => user.data<Token[]>(user.get("/api/token/"));

test("a token is made with its budget, which its owner sees and cannot lift", async () => {
  const token = await user.data<Token>(
    user.post("/api/token/", { name: "monthly", budget: { period: "month", quota_limit: 25_000_000 } }),
  );
  const [budget, ...others] = await user.data<Budget[]>(user.get("/api/budget/self"));
  expect(others).toEqual([]);
  expect(budget).toMatchObject({
    scope: "token",
    subject: String(token.id),
    subject_name: "monthly",
    period: "month",
    quota_limit: 25_000_000,
    is_hard: true,
    time_zone: "UTC",
  });
  expect((await user.delete(`/api/budget/${budget?.id}`)).body).toMatchObject({ success: false });
});

test.each<[string, object, string]>([
  ["an unknown time zone", { period: "day", quota_limit: 5, time_zone: "Mars/Base" }, "BU3"],
  ["hours without their number", { period: "hours", quota_limit: 5 }, "BU5"],
])("a budget with %s makes neither budget nor token", async (_, budget, code) => {
  const before = await list();
  expect(await readCode(user.post("/api/token/", { name: "neither", budget }))).toBe(code);
  expect(await list()).toEqual(before);
});
