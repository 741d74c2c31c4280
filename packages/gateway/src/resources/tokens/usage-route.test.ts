import { createDatabase } from "@fairway/testkit/databases";
import type { Token } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let user: Members["user"];

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  ({ user } = await signInMembers(app));
});
afterAll(() => app.close());

const create = (body: unknown = { name: "one" }) => user.data<Token>(user.post("/api/token/", body));
const usage = (key: string) => app.anonymous().get("/api/usage/token", { authorization: `Bearer ${key}` });

test("a relay key reads what it has left, also when that is nothing", async () => {
  const token = await create({ name: "bot", remain_quota: 60, model_limits: "a,b", model_limits_enabled: true });
  await app.database.db.updateTable("tokens").set({ used_quota: 40, status: 4 }).where("id", "=", token.id).execute();
  const reply = await usage(`sk-${token.key}`);
  expect(reply.headers["access-control-allow-origin"]).toBe("*");
  expect(reply.body).toEqual({
    code: true,
    message: "ok",
    data: {
      object: "token_usage",
      name: "bot",
      total_granted: 100,
      total_used: 40,
      total_available: 60,
      unlimited_quota: false,
      model_limits: { a: true, b: true },
      model_limits_enabled: true,
      expires_at: 0,
    },
  });
});

test("a relay key that is no good is refused in the shape of relay clients", async () => {
  const refused = async (key: string) => {
    const { status, body } = await usage(key);
    return [status, (body["error"] as { code: string }).code];
  };
  expect(await refused("sk-unknown")).toEqual([401, "invalid_api_key"]);
  expect((await app.anonymous().get("/api/usage/token")).body).toMatchObject({
    error: { code: "missing_api_key", type: "invalid_request_error" },
  });
  const off = await create();
  await user.data(user.put("/api/token/?status_only=true", { id: off.id, status: 2 }));
  expect(await refused(off.key)).toEqual([401, "token_disabled"]);
  const over = await create({ expired_time: Math.floor(app.clock.now() / 1000) - 1 });
  expect(await refused(over.key)).toEqual([401, "token_expired"]);
  const orphan = await create();
  await app.database.db.updateTable("users").set({ status: 2 }).where("id", "=", user.userId).execute();
  expect(await refused(orphan.key)).toEqual([403, "user_disabled"]);
  await app.database.db.updateTable("users").set({ status: 1 }).where("id", "=", user.userId).execute();
});
