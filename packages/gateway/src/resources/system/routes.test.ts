import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";

let app: ManagementApp;
beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
});
afterAll(() => app.close());

test("clients learn what they talk to, once they are signed in", async () => {
  expect((await app.anonymous().get("/api/system/info")).body).toMatchObject({ code: "AU1" });
  const root = await app.signIn("root");
  expect(await root.data(root.get("/api/system/info"))).toMatchObject({
    product: "fairway",
    version: "0.1.0",
    database: "sqlite",
    instance: "test",
    features: expect.arrayContaining(["declarative", "codes", "access-tokens"]) as unknown,
  });
});

test("administrators see the replicas as they last reported themselves", async () => {
  const root = await app.signIn("root");
  const now = Math.floor(app.clock.now() / 1000);
  const report = { instance: "pod-1", version: "0.1.0", started_at: now - 600, seen_at: now - 5, running: 3 };
  await app.database.db
    .insertInto("replicas")
    .values({ ...report, is_leader: 1, channels: '{"4":3}' })
    .execute();
  const listed = { ...report, is_leader: true, is_lost: false, revision: 0, channels: { 4: 3 } };
  const answer = await root.get("/api/system/replicas");
  expect(answer.body).toMatchObject({ data: [listed], revision: 0 });
  await root.data(root.post("/api/channel/", { name: "one", key: "k", models: "m" }));
  expect((await root.get("/api/system/replicas")).body).toMatchObject({ revision: 1 });
  expect((await app.anonymous().get("/api/system/replicas")).body).toMatchObject({ code: "AU1" });
});

test("the leader is asked to step down only while another process could take over", async () => {
  const root = await app.signIn("root");
  const stepDown = () => root.post("/api/system/leader/step-down", {});
  await app.database.db.deleteFrom("replicas").execute();
  expect((await stepDown()).body).toMatchObject({ success: false, code: "J2" });
  const now = Math.floor(app.clock.now() / 1000);
  const report = { version: "0.1.0", started_at: now - 600, seen_at: now, running: 0, revision: 0 };
  for (const [instance, leads] of [
    ["pod-1", 1],
    ["pod-2", 0],
  ] as const)
    await app.database.db
      .insertInto("replicas")
      .values({ ...report, instance, is_leader: leads })
      .execute();
  expect((await stepDown()).body).toMatchObject({ success: false, code: "J3" });
  const holder = "pod-1-0a0a0a0a-0b0b-4c0c-8d0d-0e0e0e0e0e0e";
  await app.database.raw.run("insert into leases (name, holder, term, expires_at) values ('leader', ?, 3, 0)", [
    holder,
  ]);
  expect(await root.data(stepDown())).toEqual({ leader: "pod-1", others: ["pod-2"] });
  const asked = await app.database.raw.rows("select holder, term from leases where name = 'step-down'", []);
  expect(asked).toEqual([{ holder, term: 3 }]);
  const audit = await app.database.db
    .selectFrom("audit_log")
    .selectAll()
    .where("action", "=", "systemStepDown")
    .execute();
  expect(audit).toMatchObject([{ username: "root" }]);
});

test("administrators see by which proxy each server is reached, users do not", async () => {
  const root = await app.signIn("root");
  const setting = JSON.stringify({ proxy: "http://u:secret@own-proxy:3128" });
  const channel = { type: 1, key: "k", models: "m", group: "default" };
  await root.post("/api/channel/", { ...channel, name: "a", base_url: "https://a.example/v1" });
  await root.post("/api/channel/", { ...channel, name: "b", base_url: "https://b.example", setting });
  const info = await root.data<{ outgoing?: { host: string }[] }>(root.get("/api/system/info"));
  expect(info.outgoing?.filter(({ host }) => host.endsWith(".example"))).toEqual([
    { part: "channels", host: "a.example", proxy: null },
    { part: "channels", host: "b.example", proxy: "own-proxy:3128" },
  ]);
  await app.anonymous().post("/api/user/register", { username: "someone", password: "correct-horse" });
  const user = await app.signIn("someone", "correct-horse");
  expect(await user.data(user.get("/api/system/info"))).not.toHaveProperty("outgoing");
});
