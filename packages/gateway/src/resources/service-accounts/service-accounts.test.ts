import { createDatabase } from "@fairway/testkit/databases";
import * as wire from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode } from "../../../test/kit/members.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";

/** Service accounts that belong to no team: programs that act as administrators. */

const DAY = 86_400;
const PATH = "/api/service_account/";

let app: ManagementApp;
let accounts: UserAccounts;
let root: ApiCaller;
let alice: ApiCaller;
let account: wire.ServiceAccount;
let made = 0;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  accounts = new UserAccounts(app);
  root = await app.signIn("root");
  await accounts.add("alice", { role: 10 });
  await accounts.add("olga");
  alice = await app.signIn("alice", ACCOUNT_PASSWORD);
}, 60_000);
afterAll(() => app.close());

beforeEach(async () => {
  made += 1;
  account = await root.data<wire.ServiceAccount>(root.post(PATH, { name: `CI ${made}` }));
});

const ofAccount = (rest = "") => `${PATH}${account.id}${rest}`;

async function makeToken(scopes: readonly string[], id = account.id, more: object = {}): Promise<ApiCaller> {
  const body = { name: "deploy", scopes, expires_in: 30 * DAY, ...more };
  const { token } = await root.data<{ token: string }>(root.post(`${PATH}${id}/access_token`, body));
  expect(token).toMatch(/^fwsa_[\w-]{43}$/);
  const caller = new ApiCaller(app.baseUrl);
  caller.accessToken = `Bearer ${token}`;
  return caller;
}

const CALLS = Object.values<unknown>(wire).filter(
  (value): value is wire.Endpoint =>
    typeof value === "object" && value !== null && "access" in value && "method" in value,
);

/** Sends a call with texts that no row has. */
function send(caller: ApiCaller, { method, path }: wire.Endpoint) {
  const filled = path.replaceAll(/\{\w+\}/g, "987654");
  if (method === "GET") return caller.get(filled);
  if (method === "DELETE") return caller.delete(filled);
  return method === "PUT" ? caller.put(filled, {}) : caller.post(filled, {});
}

describe("service accounts of the installation", () => {
  test("are made, listed, renamed and deleted by the super administrator alone", async () => {
    expect(account).toMatchObject({ status: 1, keys: 0, access_tokens: 0, last_used_at: 0 });
    expect(await readCode(root.post(PATH, { name: account.name.toLowerCase() }))).toBe("TM18");
    await root.data(root.put(ofAccount(), { name: `Nightly ${made}`, description: "jobs" }));
    const rows = await root.data<wire.ServiceAccount[]>(root.get(PATH));
    expect(rows.find(({ id }) => id === account.id)).toMatchObject({ name: `Nightly ${made}`, description: "jobs" });
    for (const refused of [
      alice.get(PATH),
      alice.post(PATH, { name: "more" }),
      alice.put(ofAccount(), { status: 2 }),
      alice.delete(ofAccount()),
      alice.get(ofAccount("/access_token")),
      alice.post(ofAccount("/access_token"), { name: "t", scopes: ["read"], expires_in: DAY }),
      alice.delete(ofAccount("/access_token/1")),
    ])
      expect(await readCode(refused)).toBe("AU7");
    await root.data(root.delete(ofAccount()));
    expect(await readCode(root.put(ofAccount(), { status: 1 }))).toBe("TM17");
    expect(await readCode(root.get(ofAccount("/access_token")))).toBe("TM17");
  });

  test("have names of their own, and are none of a team", async () => {
    const team = await root.data<wire.TeamView>(root.post("/api/team/", { name: `Team ${made}` }));
    const own = await root.data<wire.ServiceAccount>(
      root.post(`/api/team/${team.id}/service_account/`, { name: account.name }),
    );
    expect(await readCode(root.put(`/api/team/${team.id}/service_account/${account.id}`, { status: 2 }))).toBe("TM17");
    expect(await readCode(root.put(`${PATH}${own.id}`, { status: 2 }))).toBe("TM17");
    const body = { name: "k", unlimited_quota: true, service_account_id: account.id };
    expect(await readCode(root.post(`/api/team/${team.id}/token/`, body))).toBe("TM17");
  });

  test("need scopes and an end of at most 366 days for a token", async () => {
    const body = { name: "deploy", scopes: ["read"], expires_in: DAY };
    for (const wrong of [{ scopes: [] }, { expires_in: 367 * DAY }, { expires_in: undefined }])
      expect((await root.post(ofAccount("/access_token"), { ...body, ...wrong })).body["success"]).toBe(false);
  });
});

describe("an access token of the installation", () => {
  test("makes calls of administrators, about every team too, with the name of the service account", async () => {
    const program = await makeToken(["write"]);
    const users = await program.data<wire.User[]>(program.get("/api/user/?p=0&page_size=50"));
    expect(users.map(({ username }) => username)).toContain("olga");
    const body = { name: `Team ${made}`, owner_id: accounts.findId("olga") };
    const team = await program.data<wire.TeamView>(program.post("/api/team/", body));
    await program.data(program.post(`/api/team/${team.id}/adjust`, { quota: 500 }));
    expect(await program.data(program.get(`/api/team/${team.id}`))).toMatchObject({ quota: 500, role: "" });
    const rows = await root.data<wire.AuditRow[]>(root.get("/api/audit/?p=0&page_size=10"));
    expect(rows.find(({ action }) => action === "teamAdjust")).toMatchObject({
      user_id: 0,
      username: `service:${account.name}`,
      target: `team ${team.id}`,
    });
    expect(await readCode(program.post("/api/team/", { name: `Own ${made}` }))).toBe("U1");
  });

  test("makes no call of the super administrator and none about an own account", async () => {
    const program = await makeToken(["write"]);
    const isOfAdministrators = ({ path }: wire.Endpoint) =>
      path.startsWith("/api/team/{id}") || path === "/api/team/" || path === "/api/token/{id}/move";
    const refused = CALLS.filter((one) => one.access === "root" || (one.access === "user" && !isOfAdministrators(one)));
    expect(refused.length).toBeGreaterThan(100);
    for (const endpoint of refused)
      expect([endpoint.name, await readCode(send(program, endpoint))]).toEqual([endpoint.name, "AU7"]);
  }, 60_000);

  test("changes no credentials", async () => {
    const program = await makeToken(["write"]);
    const calls = CALLS.filter(
      ({ access, name }) => access === "admin" && wire.CALL_RIGHTS[name]?.stepUp !== undefined,
    );
    expect(calls.length).toBeGreaterThan(0);
    for (const endpoint of calls)
      expect([endpoint.name, await readCode(send(program, endpoint))]).toEqual([endpoint.name, "AU9"]);
    const olga = accounts.findId("olga");
    expect(await readCode(program.put("/api/user/", { id: olga, username: "olga", password: "new-password-1" }))).toBe(
      "AU9",
    );
  });

  test("reads alone where the scope is for reading, in its areas", async () => {
    const program = await makeToken(["users:read"]);
    await program.data(program.get("/api/user/"));
    expect(await readCode(program.post("/api/user/", { username: "new", password: "long-password-1" }))).toBe("AU11");
    expect(await readCode(program.get("/api/channel/"))).toBe("AU11");
  });

  test("stops when it ends, and when its account is off or deleted", async () => {
    const program = await makeToken(["read"]);
    const isAdmitted = async (one = program) => (await one.get("/api/user/")).body["success"];
    await root.data(root.put(ofAccount(), { status: 2 }));
    expect(await isAdmitted()).toBe(false);
    await root.data(root.put(ofAccount(), { status: 1 }));
    expect(await isAdmitted()).toBe(true);
    const [token] = await root.data<wire.ServiceToken[]>(root.get(ofAccount("/access_token")));
    expect(token?.last_used_at).toBeGreaterThan(0);
    await root.data(root.delete(`${PATH}${account.id}/access_token/${token?.id}`));
    expect(await readCode(program.get("/api/user/"))).toBe("AU2");
    const second = await makeToken(["read"]);
    const third = await makeToken(["read"], account.id, { grace_seconds: DAY });
    expect([await isAdmitted(second), await isAdmitted(third)]).toEqual([true, true]);
    await makeToken(["read"]);
    expect([await isAdmitted(second), await isAdmitted(third)]).toEqual([false, false]);
    const last = await makeToken(["read"]);
    await root.data(root.delete(ofAccount()));
    expect(await isAdmitted(last)).toBe(false);
  });

  test("has idempotency keys of its own: two accounts may use the same", async () => {
    const other = await root.data<wire.ServiceAccount>(root.post(PATH, { name: `Other ${made}` }));
    const programs = [await makeToken(["write"]), await makeToken(["write"], other.id)];
    const team = await root.data<wire.TeamView>(root.post("/api/team/", { name: `Team ${made}` }));
    for (const program of [...programs, ...programs])
      await program.data(
        program.call("POST", `/api/team/${team.id}/adjust`, {
          body: { quota: 100 },
          headers: { "idempotency-key": "october" },
        }),
      );
    expect(await root.data(root.get(`/api/team/${team.id}`))).toMatchObject({ quota: 200 });
  });
});
