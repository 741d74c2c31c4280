import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createDatabase } from "@fairway/testkit/databases";
import { Secret as OtpSecret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";

let wechat: Server;
let app: ManagementApp;
const password = "a good password";

beforeAll(async () => {
  wechat = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: true, message: "", data: "wx-1" }));
  });
  await new Promise<void>((resolve) => wechat.listen(0, "127.0.0.1", resolve));
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  const values = {
    WeChatAuthEnabled: "true",
    WeChatServerAddress: `http://127.0.0.1:${(wechat.address() as AddressInfo).port}`,
    WeChatServerToken: "wechat-token",
  };
  for (const [key, value] of Object.entries(values)) {
    await app.database.db.insertInto("options").values({ key, value }).execute();
  }
  await app.snapshots.refresh();
});
afterAll(async () => {
  await app.close();
  wechat.closeAllConnections();
  await new Promise<void>((resolve) => wechat.close(() => resolve()));
});
beforeEach(async () => {
  await app.database.db.deleteFrom("users").where("username", "!=", "root").execute();
  app.clock.move(2000);
});

async function someone(username: string): Promise<ApiCaller> {
  await app.anonymous().post("/api/user/register", { username, password });
  return app.signIn(username, password);
}

describe("an account with two-factor sign-in", () => {
  const finish = (caller: ApiCaller, code: string) => caller.post("/api/user/login/2fa", { code });

  /** Creates a user with a WeChat binding and an authenticator. */
  async function enrolled(): Promise<{ userId: number; code: () => string }> {
    const ann = await someone("ann");
    await ann.data(ann.get("/api/oauth/wechat/bind?code=1"));
    const path = "/api/user/self/two_factor";
    const { secret } = await ann.data<{ secret: string }>(ann.post(path, {}));
    const code = () => new TOTP({ secret: OtpSecret.fromBase32(secret) }).generate({ timestamp: app.clock.now() });
    await ann.data(ann.post(`${path}/confirm`, { code: code() }));
    app.clock.move(60);
    return { userId: ann.userId, code };
  }

  // @weakness Credentials: A sign-in service skips the second factor
  test("is asked for its code by a sign-in service too", async () => {
    const { userId, code } = await enrolled();
    const caller = app.anonymous();
    const asked = await caller.get("/api/oauth/wechat?code=1");
    expect(asked.body).toMatchObject({ success: false, code: "L5", field: "code", two_factor: true });
    caller.userId = userId;
    expect((await caller.get("/api/user/self")).body["code"]).toBe("AU1");
    expect((await finish(caller, "")).body).toMatchObject({ code: "L5" });
    expect((await finish(caller, "000000")).body).toMatchObject({ code: "L6" });
    expect((await finish(caller, code())).body).toMatchObject({ success: true, data: { id: userId, username: "ann" } });
    expect((await caller.get("/api/user/self")).status).toBe(200);
    app.clock.move(60);
    expect((await finish(caller, code())).body).toMatchObject({ code: "F8" });
  });

  test("is not entered without the service, nor long after it, nor once it is disabled", async () => {
    const { code, userId } = await enrolled();
    expect((await finish(app.anonymous(), code())).body).toMatchObject({ code: "F8" });
    const caller = app.anonymous();
    await caller.get("/api/oauth/wechat?code=1");
    app.clock.move(601);
    expect((await finish(caller, code())).body).toMatchObject({ code: "F8" });
    await caller.get("/api/oauth/wechat?code=1");
    await app.database.db.updateTable("users").set({ status: 2 }).where("id", "=", userId).execute();
    expect(await finish(caller, code())).toMatchObject({ status: 200, body: { code: "AU6" } });
  });
});
