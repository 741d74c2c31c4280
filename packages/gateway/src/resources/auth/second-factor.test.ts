import { eachDatabase } from "@fairway/testkit/databases";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { SoftwareAuthenticator } from "../../../test/kit/authenticator.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";

eachDatabase("second factors", (open) => {
  let app: ManagementApp;
  const password = "a good password";
  const PATH = "/api/user/self/two_factor";

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
  });
  afterAll(() => app.close());

  beforeEach(async () => {
    const { db } = app.database;
    for (const table of ["sessions", "passkeys", "one_time_codes"] as const) await db.deleteFrom(table).execute();
    await db.deleteFrom("users").where("username", "!=", "root").execute();
    await db.updateTable("users").set({ totp_secret: null }).execute();
    app.clock.move(2000);
  });

  async function someone(username: string): Promise<ApiCaller> {
    await app.anonymous().post("/api/user/register", { username, password });
    return app.signIn(username, password);
  }

  describe("two-factor sign-in", () => {
    const generateCode = (secret: string, steps = 0) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.now() + steps * 30_000 });
    const login = (username: string, body: object = {}) =>
      app.anonymous().post("/api/user/login", { username, password, ...body });

    async function enrolled(username: string) {
      const caller = await someone(username);
      const { secret, url } = await caller.data<{ secret: string; url: string }>(caller.post(PATH, {}));
      const confirm = caller.post(`${PATH}/confirm`, { code: generateCode(secret) });
      const { recovery_codes: codes } = await caller.data<{ recovery_codes: string[] }>(confirm);
      app.clock.move(60);
      return { caller, secret, url, codes };
    }

    test("requires a code after the password, and accepts each code once", async () => {
      const { caller, secret, url } = await enrolled("ann");
      expect(url).toMatch(/^otpauth:\/\/totp\/Fairway:ann\?issuer=Fairway&secret=[A-Z2-7]{32}&/);
      expect(await caller.data(caller.get(PATH))).toEqual({ enabled: true, recovery_codes_left: 10 });
      const asked = await login("ann");
      expect(asked.body).toMatchObject({ success: false, code: "L5", field: "code", two_factor: true });
      expect(asked.headers["set-cookie"]).toBeUndefined();
      expect((await login("ann", { code: generateCode(secret) })).body).toMatchObject({ success: true });
      expect((await login("ann", { code: generateCode(secret) })).body).toMatchObject({ code: "L6" });
      expect((await login("ann", { code: generateCode(secret, -1) })).body).toMatchObject({ code: "L6" });
      expect((await login("ann", { code: generateCode(secret, 1) })).body).toMatchObject({ success: true });
      expect((await login("ann", { code: generateCode(secret, 5) })).body).toMatchObject({ code: "L6" });
    });

    test("says nothing of a second factor to who does not know the password", async () => {
      await enrolled("ann");
      const wrong = await app.anonymous().post("/api/user/login", { username: "ann", password: "wrong", code: "1" });
      expect(wrong.body).toMatchObject({ code: "L3" });
    });

    test("takes a recovery code once, however it is typed, and can make new ones", async () => {
      const { caller, secret, codes } = await enrolled("ann");
      const [first = "", second = ""] = codes;
      expect(first).toMatch(/^[2-9a-hjkmnp-z]{5}-[2-9a-hjkmnp-z]{5}$/);
      expect((await login("ann", { code: ` ${first.toUpperCase().replace("-", " ")}` })).body["success"]).toBe(true);
      expect((await login("ann", { code: first })).body).toMatchObject({ code: "L6" });
      expect(await caller.data(caller.get(PATH))).toEqual({ enabled: true, recovery_codes_left: 9 });
      const renewed = await caller.data<{ recovery_codes: string[] }>(
        caller.post(`${PATH}/recovery_codes`, { code: generateCode(secret) }),
      );
      expect(renewed.recovery_codes).toHaveLength(10);
      expect((await login("ann", { code: second })).body).toMatchObject({ code: "L6" });
      expect((await login("ann", { code: renewed.recovery_codes[0] })).body["success"]).toBe(true);
    });

    test("of calls with one code at once only one gets in", async () => {
      const { secret } = await enrolled("ann");
      const code = generateCode(secret);
      const replies = await Promise.all(Array.from({ length: 5 }, () => login("ann", { code })));
      expect(replies.filter(({ body }) => body["success"] === true)).toHaveLength(1);
    });

    test("ten wrong codes shut the login, also for the right one", async () => {
      const { secret } = await enrolled("ann");
      for (let i = 0; i < 10; i += 1)
        expect((await login("ann", { code: "000000" })).body).toMatchObject({ code: "L6" });
      expect((await login("ann", { code: generateCode(secret) })).body).toMatchObject({ code: "L4" });
    });

    test("enrolling, confirming and switching off refuse what is out of order", async () => {
      const caller = await someone("ann");
      expect((await caller.post(`${PATH}/confirm`, { code: "123456" })).body).toMatchObject({ code: "F3" });
      expect((await caller.post(`${PATH}/disable`, { code: "123456" })).body).toMatchObject({ code: "F2" });
      const { secret } = await caller.data<{ secret: string }>(caller.post(PATH, {}));
      expect((await caller.post(`${PATH}/confirm`, {})).body).toMatchObject({ code: "L5" });
      expect((await caller.post(`${PATH}/confirm`, { code: "abcdef" })).body).toMatchObject({ code: "L6" });
      expect((await login("ann")).body["success"]).toBe(true);
      await caller.data(caller.post(`${PATH}/confirm`, { code: generateCode(secret) }));
      expect((await caller.post(PATH, {})).body).toMatchObject({ code: "F1" });
      expect((await caller.post(`${PATH}/confirm`, { code: generateCode(secret, 1) })).body).toMatchObject({
        code: "F1",
      });
      app.clock.move(60);
      await caller.data(caller.post(`${PATH}/disable`, { code: generateCode(secret) }));
      expect((await login("ann")).body["success"]).toBe(true);
    });

    test("is shown and switched off by the calls of later compatible consoles", async () => {
      const { caller, secret } = await enrolled("ann");
      const status = () => caller.data(caller.get("/api/user/2fa/status"));
      expect(await status()).toEqual({ enabled: true, locked: false, backup_codes_remaining: 10 });
      const renew = (code: string) => caller.post("/api/user/2fa/backup_codes", { code });
      expect((await renew("000000")).body).toMatchObject({ code: "L6" });
      const { backup_codes: codes } = await caller.data<{ backup_codes: string[] }>(renew(generateCode(secret)));
      expect(codes).toHaveLength(10);
      for (let guess = 0; guess < 10; guess += 1) await renew("000000");
      expect(await status()).toMatchObject({ locked: true });
      app.clock.move(901);
      expect((await caller.post("/api/user/2fa/disable", { code: codes[0] })).body["success"]).toBe(true);
      expect(await status()).toEqual({ enabled: false, locked: false, backup_codes_remaining: 0 });
      expect((await caller.post("/api/user/2fa/disable", { code: codes[1] })).body).toMatchObject({ code: "F2" });
    });

    test("the secret is sealed in the database, and codes are hashed", async () => {
      const { secret, codes } = await enrolled("ann");
      const rows = await app.database.db.selectFrom("users").selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain(secret);
      for (const code of codes) expect(JSON.stringify(rows)).not.toContain(code.replace("-", ""));
    });

    test("an administrator frees a user of a lost device, but no equal", async () => {
      const { caller } = await enrolled("ann");
      const root = await app.signIn("root");
      expect((await root.delete("/api/user/999/two_factor")).body).toMatchObject({ code: "U1" });
      const admin = await someone("boss");
      await root.post("/api/user/manage", { id: admin.userId, action: "promote" });
      expect((await admin.delete(`/api/user/${root.userId}/two_factor`)).body).toMatchObject({ code: "U3" });
      expect((await caller.delete(`/api/user/${caller.userId}/two_factor`)).body).toMatchObject({ code: "AU7" });
      for (const path of ["2fa", "reset_passkey"]) {
        expect((await admin.delete(`/api/user/${root.userId}/${path}`)).body).toMatchObject({ code: "U3" });
        expect((await caller.delete(`/api/user/${caller.userId}/${path}`)).body).toMatchObject({ code: "AU7" });
      }
      expect((await admin.delete(`/api/user/${caller.userId}/reset_passkey`)).body["success"]).toBe(true);
      expect((await login("ann")).body).toMatchObject({ code: "L5" });
      expect((await admin.delete(`/api/user/${caller.userId}/2fa`)).body["success"]).toBe(true);
      expect((await login("ann")).body["success"]).toBe(true);
      expect((await admin.delete(`/api/user/${caller.userId}/two_factor`)).body["success"]).toBe(true);
    });
  });

  describe("passkeys", () => {
    type Creation = Parameters<SoftwareAuthenticator["create"]>[0];
    type Request = Parameters<SoftwareAuthenticator["get"]>[0];

    const creation = (caller: ApiCaller) => caller.data<Creation>(caller.post("/api/user/self/passkeys/options", {}));
    const request = () => app.anonymous().data<Request>(app.anonymous().post("/api/user/passkey/options", {}));
    const signIn = (response: object) => app.anonymous().post("/api/user/passkey/login", { response });

    async function withPasskey(username: string) {
      const caller = await someone(username);
      const device = new SoftwareAuthenticator();
      const response = device.create(await creation(caller), { origin: app.baseUrl });
      const passkey = await caller.data<{ id: number }>(
        caller.post("/api/user/self/passkeys", { name: "Laptop", response }),
      );
      return { caller, device, response, passkey };
    }

    test("are made, listed, used to sign in, renamed and removed", async () => {
      const { caller, device, passkey } = await withPasskey("ann");
      expect(await caller.data(caller.get("/api/user/self/passkeys"))).toEqual([
        { id: passkey.id, name: "Laptop", created_at: Math.floor(app.clock.now() / 1000), last_used_at: 0 },
      ]);
      const visitor = app.anonymous();
      const options = await visitor.data<Request>(visitor.post("/api/user/passkey/options", {}));
      const reply = await visitor.post("/api/user/passkey/login", {
        response: device.get(options, { origin: app.baseUrl }),
      });
      expect(reply.body).toMatchObject({ success: true, data: { id: caller.userId, username: "ann", role: 1 } });
      visitor.userId = caller.userId;
      expect((await visitor.get("/api/user/self")).body["success"]).toBe(true);
      const other = await someone("bob");
      expect((await other.delete(`/api/user/self/passkeys/${passkey.id}`)).body).toMatchObject({ code: "F4" });
      expect((await other.put(`/api/user/self/passkeys/${passkey.id}`, { name: "Mine" })).body).toMatchObject({
        code: "F4",
      });
      for (const name of ["Phone", "Phone"]) {
        expect((await caller.put(`/api/user/self/passkeys/${passkey.id}`, { name })).body["success"]).toBe(true);
      }
      expect(await caller.data(caller.get("/api/user/self/passkeys"))).toMatchObject([{ name: "Phone" }]);
      expect((await caller.delete(`/api/user/self/passkeys/${passkey.id}`)).body["success"]).toBe(true);
      expect((await signIn(device.get(await request(), { origin: app.baseUrl }))).body).toMatchObject({ code: "F7" });
    });

    test("answers are good once, for this page, with a user whom the device knows", async () => {
      const { device, response, caller } = await withPasskey("ann");
      const origin = app.baseUrl;
      const answer = device.get(await request(), { origin });
      expect((await signIn(answer)).body["success"]).toBe(true);
      expect((await signIn(answer)).body).toMatchObject({ code: "F7" });
      expect((await signIn(device.get(await request(), { origin: "http://evil.example" }))).body).toMatchObject({
        code: "F7",
      });
      const unverified = device.get(await request(), { origin, isVerified: false });
      expect((await signIn(unverified)).body).toMatchObject({ code: "F7" });
      const late = device.get(await request(), { origin });
      app.clock.move(301);
      expect((await signIn(late)).body).toMatchObject({ code: "F7" });
      expect((await signIn({ id: "x" })).body).toMatchObject({ code: "F7" });
      expect((await signIn({ id: device.id, response: { clientDataJSON: 5 } })).body).toMatchObject({ code: "F7" });
      await caller.data(caller.post("/api/user/self/confirm", { password }));
      expect((await caller.post("/api/user/self/passkeys", { response })).body).toMatchObject({ code: "F7" });
    });

    test("belong to one account, and to the page that asks", async () => {
      const { device } = await withPasskey("ann");
      const bob = await someone("bob");
      const again = device.create(await creation(bob), { origin: app.baseUrl });
      expect((await bob.post("/api/user/self/passkeys", { response: again })).body).toMatchObject({ code: "F6" });
      const foreign = await app.anonymous().call("POST", "/api/user/passkey/options", {
        body: {},
        headers: { origin: "https://evil.example" },
      });
      expect(foreign.body).toMatchObject({ code: "F7" });
      const own = new SoftwareAuthenticator().create(await creation(bob), { origin: app.baseUrl });
      const stolen = (await someone("carl")).post("/api/user/self/passkeys", { response: own });
      expect((await stolen).body).toMatchObject({ code: "F7" });
    });

    test("are created, used and removed by the calls of later compatible consoles", async () => {
      const caller = await someone("ann");
      const status = () => caller.data(caller.get("/api/user/passkey"));
      expect(await status()).toEqual({ enabled: false, last_used_at: null });
      const device = new SoftwareAuthenticator();
      const origin = app.baseUrl;
      type Ceremony<T> = { options: { publicKey: T } };
      const begun = await caller.data<Ceremony<Creation>>(caller.post("/api/user/passkey/register/begin", {}));
      const made = device.create(begun.options.publicKey, { origin });
      expect((await caller.post("/api/user/passkey/register/finish", made)).body["success"]).toBe(true);
      expect((await caller.post("/api/user/passkey/register/finish", made)).body).toMatchObject({ code: "F7" });
      const visitor = app.anonymous();
      const asked = await visitor.data<Ceremony<Request>>(visitor.post("/api/user/passkey/login/begin", {}));
      const answer = device.get(asked.options.publicKey, { origin });
      expect((await visitor.post("/api/user/passkey/login/finish", answer)).body).toMatchObject({
        success: true,
        data: { id: caller.userId, username: "ann" },
      });
      const usedAt = new Date(Math.floor(app.clock.now() / 1000) * 1000).toISOString();
      expect(await status()).toEqual({ enabled: true, last_used_at: usedAt });
      expect((await (await someone("bob")).delete("/api/user/passkey")).body["success"]).toBe(true);
      const root = await app.signIn("root");
      expect((await root.delete(`/api/user/${caller.userId}/2fa`)).body["success"]).toBe(true);
      expect(await status()).toMatchObject({ enabled: true });
      expect((await caller.delete("/api/user/passkey")).body["success"]).toBe(true);
      expect(await status()).toEqual({ enabled: false, last_used_at: null });
      expect((await visitor.post("/api/user/passkey/login/finish", {})).body).toMatchObject({ code: "F7" });
    });

    test("do not open an account that is switched off or gone, and number twenty at most", async () => {
      const { caller, device } = await withPasskey("ann");
      const set = (values: object) =>
        app.database.db.updateTable("users").set(values).where("id", "=", caller.userId).execute();
      await set({ status: 2 });
      expect((await signIn(device.get(await request(), { origin: app.baseUrl }))).body).toMatchObject({ code: "AU6" });
      await set({ status: 1, deleted_at: 5 });
      expect((await signIn(device.get(await request(), { origin: app.baseUrl }))).body).toMatchObject({ code: "AU8" });
      await set({ deleted_at: null });
      const rows = Array.from({ length: 19 }, (_, at) => ({
        user_id: caller.userId,
        credential_id: `c${at}`,
        public_key: "",
        counter: 0,
        name: "",
        transports: "",
        created_at: 0,
      }));
      await app.database.db.insertInto("passkeys").values(rows).execute();
      expect((await caller.post("/api/user/self/passkeys/options", {})).body).toMatchObject({
        code: "F5",
        message: "You cannot have more than 20 passkeys.",
      });
    });
  });
});
