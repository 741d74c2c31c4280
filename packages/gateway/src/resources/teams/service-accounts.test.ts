import { eachDatabase } from "@fairway/testkit/databases";
import type { ServiceAccount, ServiceToken, TeamToken, TeamView } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode } from "../../../test/kit/members.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";

const DAY = 86_400;

eachDatabase("service accounts", (open) => {
  let app: ManagementApp;
  let accounts: UserAccounts;
  let root: ApiCaller;
  let olga: ApiCaller;
  let team: TeamView;
  let account: ServiceAccount;
  let made = 0;
  const path = (rest = "") => `/api/team/${team.id}${rest}`;
  const ofAccount = (rest = "") => path(`/service_account/${account.id}${rest}`);

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    accounts = new UserAccounts(app);
    root = await app.signIn("root");
    await accounts.add("olga");
    olga = await app.signIn("olga", ACCOUNT_PASSWORD);
  }, 60_000);
  afterAll(() => app.close());

  beforeEach(async () => {
    made += 1;
    const body = { name: `Team ${made}`, slug: `team-${made}`, owner_id: accounts.findId("olga") };
    team = await root.data<TeamView>(root.post("/api/team/", body));
    account = await olga.data<ServiceAccount>(olga.post(path("/service_account/"), { name: "CI" }));
  });

  async function makeToken(scopes: readonly string[], more: object = {}): Promise<ApiCaller> {
    const body = { name: "deploy", scopes, expires_in: 30 * DAY, ...more };
    const { token } = await olga.data<{ token: string }>(olga.post(ofAccount("/access_token"), body));
    expect(token).toMatch(/^fwsa_[\w-]{43}$/);
    const caller = new ApiCaller(app.baseUrl);
    caller.accessToken = `Bearer ${token}`;
    return caller;
  }

  test("are made, listed, renamed, and their names are free again after a deletion", async () => {
    expect(account).toMatchObject({ name: "CI", status: 1, keys: 0, access_tokens: 0, last_used_at: 0 });
    expect(await readCode(olga.post(path("/service_account/"), { name: "ci" }))).toBe("TM18");
    const other = await olga.data<ServiceAccount>(olga.post(path("/service_account/"), { name: "Nightly" }));
    expect(await readCode(olga.put(path(`/service_account/${other.id}`), { name: "cI" }))).toBe("TM18");
    await olga.data(olga.put(path(`/service_account/${other.id}`), { name: "Night", description: "jobs" }));
    const listed = await olga.data<ServiceAccount[]>(olga.get(path("/service_account/")));
    expect(listed.map(({ name }) => name)).toEqual(["CI", "Night"]);
    await olga.data(olga.delete(ofAccount()));
    expect(await readCode(olga.delete(ofAccount()))).toBe("TM17");
    await olga.data(olga.post(path("/service_account/"), { name: "CI" }));
  });

  test("hold keys that depend on no person", async () => {
    const body = { name: "app", unlimited_quota: true, service_account_id: account.id };
    const key = await olga.data<TeamToken>(olga.post(path("/token/"), body));
    expect(key).toMatchObject({ service_account: account.id, member_name: "olga" });
    expect(key.key).toHaveLength(48);
    const [listed] = await olga.data<ServiceAccount[]>(olga.get(path("/service_account/")));
    expect(listed).toMatchObject({ keys: 1 });
    expect(await readCode(olga.post(path("/token/"), { ...body, service_account_id: 99_999 }))).toBe("TM17");
  });

  describe("with an access token", () => {
    test("manage their team as an admin, and nothing else", async () => {
      const program = await makeToken(["teams:write"]);
      expect(await program.data(program.get(path()))).toMatchObject({ id: team.id });
      const invitation = await program.data<object>(program.post(path("/invitations"), { role: "member" }));
      expect(invitation).toHaveProperty("link");
      const key = await program.data<TeamToken>(program.post(path("/token/"), { name: "app" }));
      expect(key).toMatchObject({ member: 0, service_account: account.id });
      expect(await program.data(program.post(path(`/token/${key.id}/key`), {}))).toEqual({ key: key.key });
      await program.data(program.put(path(`/token/${key.id}`), { name: "renamed" }));
      await program.data(program.delete(path(`/token/${key.id}`)));
      // What owners and administrators of the installation may.
      for (const refused of [
        program.put(path(), { name: "Mine" }),
        program.delete(path(`?confirm=${team.slug}`)),
        program.post(path("/adjust"), { quota: 1 }),
        program.post(path("/transfer"), { quota: 1 }),
        program.put(path(), { group: "vip" }),
      ])
        expect(["TM2", "TM20", "AU11"]).toContain(await readCode(refused));
      expect(await program.data(program.get("/api/status"))).toBeTruthy();
      for (const own of [
        "/api/user/self",
        "/api/token/",
        "/api/log/self",
        "/api/team/",
        "/api/user/self/access_tokens",
      ])
        expect([own, await readCode(program.get(own))]).toEqual([own, "AU7"]);
      expect(await readCode(program.post("/api/token/", { name: "own" }))).toBe("AU7");
    });

    test("do not reach another team, and make no credentials", async () => {
      const program = await makeToken(["write"]);
      const other = await root.data<TeamView>(
        root.post("/api/team/", { name: `Other ${made}`, slug: `other-${made}` }),
      );
      expect(await readCode(program.get(`/api/team/${other.id}`))).toBe("TM1");
      const body = { name: "more", scopes: ["write"], expires_in: DAY };
      expect(await readCode(program.post(ofAccount("/access_token"), body))).toBe("AU9");
    });

    test("read alone where the scope is for reading", async () => {
      const program = await makeToken(["teams:read"]);
      expect(await program.data(program.get(path("/members")))).toHaveLength(1);
      expect(await readCode(program.post(path("/invitations"), { role: "member" }))).toBe("AU11");
    });

    test("stop when the token ends, and when the account is off or deleted, or the team is deleted", async () => {
      const program = await makeToken(["teams:read"]);
      await olga.data(olga.put(ofAccount(), { status: 2 }));
      expect((await program.get(path())).body["success"]).toBe(false);
      await olga.data(olga.put(ofAccount(), { status: 1 }));
      expect((await program.get(path())).body["success"]).toBe(true);
      await root.data(root.delete(path(`?confirm=${team.slug}`)));
      expect((await program.get(path())).body["success"]).toBe(false);
      await root.data(root.post(path("/restore"), {}));
      const [token] = await olga.data<ServiceToken[]>(olga.get(ofAccount("/access_token")));
      expect(token).toMatchObject({
        name: "deploy",
        scopes: ["teams:read"],
        hint: expect.stringMatching(/^fwsa_/) as string,
      });
      expect(token?.last_used_at).toBeGreaterThan(0);
      await olga.data(olga.delete(ofAccount(`/access_token/${token?.id}`)));
      expect(await readCode(program.get(path()))).toBe("AU2");
      expect(await readCode(olga.delete(ofAccount(`/access_token/${token?.id}`)))).toBe("TM21");
      const second = await makeToken(["teams:read"]);
      await olga.data(olga.delete(ofAccount()));
      expect((await second.get(path())).body["success"]).toBe(false);
    });

    test("are replaced without a gap: the earlier token of the name works for the grace", async () => {
      const first = await makeToken(["teams:read"]);
      const second = await makeToken(["teams:read"], { grace_seconds: DAY });
      for (const program of [first, second]) expect((await program.get(path())).body["success"]).toBe(true);
      const third = await makeToken(["teams:read"]);
      expect((await third.get(path())).body["success"]).toBe(true);
      for (const program of [first, second]) expect(await readCode(program.get(path()))).toBe("AU2");
    });
  });

  test("need a scope and an end of at most 366 days", async () => {
    const body = { name: "deploy", scopes: ["teams:read"], expires_in: DAY };
    for (const wrong of [{ scopes: [] }, { expires_in: 367 * DAY }, { expires_in: undefined }])
      expect((await olga.post(ofAccount("/access_token"), { ...body, ...wrong })).body["success"]).toBe(false);
  });
});
