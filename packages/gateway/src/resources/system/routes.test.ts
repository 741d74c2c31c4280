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
