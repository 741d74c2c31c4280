import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../kit/management-app.ts";

eachDatabase("values that a column cannot hold", (open) => {
  let app: ManagementApp;
  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
  });
  afterAll(() => app.close());

  test("are refused or find nothing, and never cause a server error", async () => {
    const root = await app.signIn("root");
    const tooLarge = await root.get("/api/redemption/?status=2147483648");
    expect([tooLarge.status, tooLarge.body["code"] ?? "none"]).toEqual([200, open.kind === "postgres" ? "G1" : "none"]);
    const zeroByte = await root.put("/api/user/self", { display_name: "a\u0000b" });
    expect([zeroByte.status, zeroByte.body["code"]]).toEqual([400, "G1"]);
    expect((await root.get("/api/user/search?keyword=a%00b")).status).toBeLessThan(500);
  });
});
