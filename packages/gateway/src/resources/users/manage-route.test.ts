import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";

let app: ManagementApp;
let accounts: UserAccounts;
let root: ApiCaller;
let admin: ApiCaller;
let user: ApiCaller;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  accounts = new UserAccounts(app);
  root = await app.signIn("root");
});
afterAll(() => app.close());
beforeEach(async () => {
  await accounts.reset();
  [admin, user] = await Promise.all([app.signIn("alice", ACCOUNT_PASSWORD), app.signIn("ursula", ACCOUNT_PASSWORD)]);
});

const password = ACCOUNT_PASSWORD;

describe("managing", () => {
  // @weakness Sessions and permissions: A disabled or deleted user keeps his session
  test("disable and enable, effective at once", async () => {
    expect(await accounts.manage(admin, "ursula", "disable")).toMatchObject({
      success: true,
      data: { id: accounts.findId("ursula"), username: "ursula", role: 1, status: 2 },
    });
    expect((await user.get("/api/user/self")).body["code"]).toBe("AU6");
    expect(await accounts.manage(admin, "ursula", "disable")).toMatchObject({ success: true, data: { status: 2 } });
    expect(await accounts.manage(admin, "ursula", "enable")).toMatchObject({ data: { status: 1 } });
    expect((await accounts.readLogs("ursula")).map(({ content }) => content)).toEqual([
      "Disabled by an administrator",
      "Enabled by an administrator",
    ]);
  });

  test("a session that was not used while its user was disabled does not come back", async () => {
    await accounts.manage(admin, "ursula", "disable");
    await accounts.manage(admin, "ursula", "enable");
    expect((await user.get("/api/user/self")).body["code"]).toBe("AU1");
  });

  test("an access token of a disabled user refuses by name, and does not come back", async () => {
    const token = await user.data<string>(user.get("/api/user/token"));
    const call = () => app.anonymous().get("/api/user/self", { authorization: token });
    await accounts.manage(admin, "ursula", "disable");
    expect((await call()).body["code"]).toBe("AU6");
    await accounts.manage(admin, "ursula", "enable");
    expect((await call()).body["code"]).toBe("AU2");
  });

  // @weakness Sessions and permissions: Role and state are taken from the cookie
  test("promote and demote hold for running sessions", async () => {
    expect(await accounts.manage(root, "ursula", "promote")).toMatchObject({ data: { role: 10, status: 1 } });
    expect((await user.get("/api/user/")).body["success"]).toBe(true);
    expect(await accounts.manage(root, "ursula", "demote")).toMatchObject({ data: { role: 1 } });
    expect((await user.get("/api/user/")).body["code"]).toBe("AU7");
  });

  test("delete marks the row, keeps the name and ends everything", async () => {
    expect(await accounts.manage(admin, "ursula", "delete")).toMatchObject({
      success: true,
      data: { role: 1, status: 1 },
    });
    expect((await accounts.readRow("ursula")).deleted_at).not.toBeNull();
    expect((await user.get("/api/user/self")).body["code"]).toBe("AU8");
    expect((await admin.post("/api/user/", { username: "Ursula", password })).body["code"]).toBe("R7");
    expect((await accounts.manage(admin, "ursula", "enable"))["code"]).toBe("U13");
  });

  test("add_quota moves the balance by an amount", async () => {
    expect(await accounts.manage(admin, "ursula", "add_quota", { value: 500 })).toMatchObject({
      data: { quota: 1500 },
    });
    expect(await accounts.manage(admin, "ursula", "add_quota", { value: -1500 })).toMatchObject({ data: { quota: 0 } });
    for (const value of [-1, 1.5, undefined])
      expect((await accounts.manage(admin, "ursula", "add_quota", { value }))["code"]).toBe("U16");
    expect((await accounts.manage(admin, "ursula", "add_quota", { value: "5" }))["code"]).toBe("G2");
    expect((await accounts.readRow("ursula")).quota).toBe(0);
  });

  test("add_quota adds, subtracts or sets where the call names a mode", async () => {
    const move = (mode: unknown, value: number) => accounts.manage(admin, "ursula", "add_quota", { mode, value });
    expect(await move("add", 500)).toMatchObject({ data: { quota: 1500 } });
    expect(await move("subtract", 700)).toMatchObject({ data: { quota: 800 } });
    expect(await move("override", 300)).toMatchObject({ data: { quota: 300 } });
    expect(await move("override", 0)).toMatchObject({ data: { quota: 0 } });
    for (const mode of ["add", "subtract", "override"]) expect((await move(mode, -1))["code"]).toBe("U16");
    expect((await move("subtract", 1))["code"]).toBe("U16");
    expect(await move("double", 5)).toMatchObject({ code: "G1", field: "mode" });
    expect((await accounts.readRow("ursula")).quota).toBe(0);
  });

  test("older programs name the user, and add quota with a remark", async () => {
    const byName = (more: object) => admin.post("/api/user/manage", { username: " Ursula ", ...more });
    expect((await byName({ action: "disable" })).body).toMatchObject({ data: { status: 2 } });
    expect((await byName({ id: 999_999, action: "enable" })).body["code"]).toBe("U1");
    expect((await byName({ action: "enable" })).body).toMatchObject({ data: { status: 1 } });
    expect((await admin.post("/api/user/manage", { username: "nobody", action: "enable" })).body["code"]).toBe("U1");
    const { id } = await accounts.readRow("ursula");
    const topUp = (more: object) => admin.post("/api/topup", { user_id: id, quota: 500, remark: "Order 7", ...more });
    await admin.data(topUp({}));
    expect((await accounts.readRow("ursula")).quota).toBe(1500);
    expect((await accounts.readLogs("ursula")).at(-1)?.content).toMatch(
      /^The administrator changed the user quota from .+: Order 7$/,
    );
    for (const [more, code] of [
      [{ user_id: 0 }, "G1"],
      [{ user_id: 999_999 }, "U1"],
      [{ user_id: 1 }, "U3"],
      [{ quota: -1 }, "U16"],
      [{ quota: undefined }, "U16"],
      [{ quota: "5" }, "G2"],
    ] as const)
      expect((await topUp(more)).body["code"]).toBe(code);
  });

  test("parallel additions are all booked", async () => {
    await Promise.all(Array.from({ length: 8 }, () => accounts.manage(admin, "ursula", "add_quota", { value: 10 })));
    expect((await accounts.readRow("ursula")).quota).toBe(1080);
  });

  // @weakness Sessions and permissions: A call without an id acts on the first row; unknown actions succeed
  test("G1, U1, U12 come in this order", async () => {
    for (const id of [undefined, 0, -1, 1.5, "5"]) {
      expect((await root.post("/api/user/manage", { id, action: "nothing" })).body["code"]).toBe("G1");
    }
    expect((await root.post("/api/user/manage", { id: 999_999, action: "nothing" })).body["code"]).toBe("U1");
    expect((await accounts.manage(admin, "arthur", "nothing"))["code"]).toBe("U3");
    expect((await accounts.manage(admin, "ursula", "nothing"))["code"]).toBe("U12");
    expect((await root.post("/api/user/manage", { id: accounts.findId("ursula") })).body["code"]).toBe("U12");
  });
});

describe("the role matrix", () => {
  const ok = undefined;
  test.each<[string, "admin" | "root", string, string | undefined]>([
    ["disable", "admin", "ursula", ok],
    ["delete", "admin", "ursula", ok],
    ["promote", "admin", "ursula", "U8"],
    ["demote", "admin", "ursula", "U11"],
    ...["disable", "enable", "delete", "promote", "demote"].flatMap((action) =>
      ["alice", "arthur", "root"].map((name): [string, "admin", string, string] => [action, "admin", name, "U3"]),
    ),
    ["disable", "root", "ursula", ok],
    ["delete", "root", "ursula", ok],
    ["demote", "root", "ursula", "U11"],
    ["promote", "root", "ursula", ok],
    ["disable", "root", "arthur", ok],
    ["delete", "root", "arthur", ok],
    ["demote", "root", "arthur", ok],
    ["promote", "root", "arthur", "U9"],
    ["disable", "root", "root", "U6"],
    ["delete", "root", "root", "U7"],
    ["demote", "root", "root", "U10"],
    ["promote", "root", "root", "U9"],
  ])("%s by %s of %s: %s", async (action, caller, name, code) => {
    expect((await accounts.manage(caller === "root" ? root : admin, name, action))["code"]).toBe(code);
  });

  test("only administrators manage users, and access tokens have the rights of their user", async () => {
    expect((await accounts.manage(user, "ulf_%", "disable"))["code"]).toBe("AU7");
    const token = await user.data<string>(user.get("/api/user/token"));
    expect(
      (
        await app.anonymous().call("POST", "/api/user/manage", {
          body: { id: accounts.findId("ulf_%"), action: "disable" },
          headers: { authorization: token },
        })
      ).body["code"],
    ).toBe("AU7");
  });
});
