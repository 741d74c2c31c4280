import { eachDatabase } from "@fairway/testkit/databases";
import type { Budget, ConversionPlan, TeamToken, TeamView, Token } from "@fairway/wire";
import type { KyselyPlugin } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode } from "../../../test/kit/members.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";
import { insertRow } from "../../storage/inserts.ts";
import { transact } from "../../storage/transaction.ts";
import { convertAccount } from "../../teams/convert.ts";

/** Accounts without sign-in that become teams. */

/** More than a conversion has statements. */
const MOST_POINTS = 60;
const NO_PASSWORD = "!";

/** The process is dead: nothing of it reaches the database any more. */
class Dead extends Error {}

/** Throws before a statement, as if the process had ended there. */
function dyingAt(point: number): KyselyPlugin {
  let steps = 0;
  return {
    transformQuery({ node }) {
      steps += 1;
      if (steps >= point) throw new Dead("the process is dead");
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
}

eachDatabase("an account that becomes a team", (open) => {
  let app: ManagementApp;
  let accounts: UserAccounts;
  let root: ApiCaller;
  let made = 0;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    accounts = new UserAccounts(app);
    root = await app.signIn("root");
    await accounts.add("olga");
    await accounts.add("alice", { role: 10 });
  }, 60_000);
  afterAll(() => app.close());

  const plan = (id: number) => root.data<ConversionPlan>(root.get(`/api/team/convert/${id}`));
  const convert = (id: number, more: object = {}) => root.post("/api/team/convert", { user_id: id, ...more });

  /** An account as an earlier import brought it for a team, with a key, a budget and money. */
  async function makeAccount(): Promise<{ id: number; username: string; token: Token; budget: number }> {
    made += 1;
    const username = `legacy-${made}`;
    const row = accountRow({ username, passwordHash: NO_PASSWORD, createdAt: 1 });
    const id = await insertRow(app.database.db, "users", { ...row, limits: JSON.stringify({ rpm: 7 }) });
    await root.data(root.post("/api/user/manage", { id, action: "add_quota", mode: "add", value: 1_000 }));
    const token = await root.data<Token>(root.post("/api/token/", { name: username, unlimited_quota: true }));
    const db = app.database.db;
    await db.updateTable("tokens").set({ user_id: id, group: "vip" }).where("id", "=", token.id).execute();
    const terms = { scope: "user", subject: String(id), period: "month", quota_limit: 500 };
    const { id: budget } = await root.data<Budget>(root.post("/api/budget/", terms));
    await db.updateTable("budgets").set({ used: 70 }).where("id", "=", budget).execute();
    return { id, username, token, budget };
  }

  const readAccount = (id: number) =>
    app.database.db
      .selectFrom("users")
      .select(["kind", "username_key", "quota", "used_quota", "limits"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  const readLedger = (id: number) =>
    app.database.db.selectFrom("ledger").selectAll().where("user_id", "=", id).orderBy("id").execute();

  test("keeps its balance, ledger, keys, limits and budgets, which are those of the team then", async () => {
    const { id, username, token, budget } = await makeAccount();
    const ledger = await readLedger(id);
    expect(await plan(id)).toEqual({
      user_id: id,
      username,
      quota: 1_000,
      used_quota: 0,
      held: 0,
      group: "default",
      groups: ["default", "vip"],
      keys: 1,
      budgets: 1,
      webhooks: 0,
      blocks: [],
    });
    expect(await readAccount(id)).toMatchObject({ kind: 0, username_key: username });
    const owner = accounts.findId("olga");
    const team = await root.data<TeamView>(convert(id, { name: "Legacy", slug: username, owner_id: owner }));
    expect(team).toMatchObject({ slug: username, name: "Legacy", account_id: id, quota: 1_000, members: 1, keys: 1 });
    expect(team.settings).toMatchObject({ groups: ["default", "vip"], limits: { rpm: 7 } });
    expect(await readAccount(id)).toMatchObject({ kind: 1, username_key: `team:${username}`, limits: null });
    expect(await readLedger(id)).toEqual(ledger);
    const olga = await app.signIn("olga", ACCOUNT_PASSWORD);
    const keys = await olga.data<TeamToken[]>(olga.get(`/api/team/${team.id}/token/`));
    expect(keys).toMatchObject([{ id: token.id, name: username, member: 0, status: 1 }]);
    const budgets = await olga.data<Budget[]>(olga.get(`/api/team/${team.id}/budget/`));
    expect(budgets).toMatchObject([{ id: budget, scope: "team", subject: String(team.id), used: 70 }]);
    expect(await readCode(root.get(`/api/user/${id}`))).toBe("U1");
    expect(await readCode(root.get(`/api/team/convert/${id}`))).toBe("U1");
    expect(await readCode(convert(id))).toBe("U1");
  });

  test("is off as a team if it was disabled, and has the caller as owner if no one is named", async () => {
    const { id } = await makeAccount();
    await root.data(root.post("/api/user/manage", { id, action: "disable" }));
    const team = await root.data<TeamView>(convert(id));
    expect(team).toMatchObject({ status: 2, role: "owner" });
    const back = await root.data<TeamView>(root.put(`/api/team/${team.id}`, { status: 1 }));
    expect(back.status).toBe(1);
  });

  describe("is refused", () => {
    test("while someone can sign in with it, and says why", async () => {
      const { id } = await makeAccount();
      const { db } = app.database;
      const set = (columns: object) => db.updateTable("users").set(columns).where("id", "=", id).execute();
      for (const [columns, back] of [
        [{ password: "hash" }, { password: NO_PASSWORD }],
        [{ email: `a${id}@example.com` }, { email: null }],
        [{ github_id: `g${id}` }, { github_id: null }],
        [{ totp_secret: "s" }, { totp_secret: null }],
      ]) {
        await set(columns as object);
        expect((await plan(id)).blocks).toEqual(["sign_in"]);
        expect(await readCode(convert(id))).toBe("TM22");
        await set(back as object);
      }
      await set({ aff_quota: 5 });
      expect((await plan(id)).blocks).toEqual(["earnings"]);
      await set({ aff_quota: 0, role: 10 });
      expect((await plan(id)).blocks).toEqual(["role"]);
      await set({ role: 1 });
      const other = await root.data<TeamView>(root.post("/api/team/", { name: `Other ${id}` }));
      await root.data(root.post(`/api/team/${other.id}/members`, { user_id: id, role: "member" }));
      const refused = await convert(id);
      expect(refused.body).toMatchObject({ code: "TM22", message: expect.stringContaining("memberships") as string });
      await root.data(root.delete(`/api/team/${other.id}/members/${id}`));
      expect((await plan(id)).blocks).toEqual([]);
    });

    test("to others than the super administrator, and for people", async () => {
      const { id } = await makeAccount();
      const alice = await app.signIn("alice", ACCOUNT_PASSWORD);
      expect(await readCode(alice.get(`/api/team/convert/${id}`))).toBe("AU7");
      expect(await readCode(alice.post("/api/team/convert", { user_id: id }))).toBe("AU7");
      const olga = accounts.findId("olga");
      expect((await plan(olga)).blocks).toContain("sign_in");
      expect(await readCode(convert(olga))).toBe("TM22");
      expect(await readCode(convert(987_654))).toBe("U1");
    });

    test("with a short name that a team has, or an owner that does not exist, and changes nothing", async () => {
      const [first, second] = [await makeAccount(), await makeAccount()];
      await root.data(convert(first.id, { slug: `taken-${first.id}` }));
      const before = await readAccount(second.id);
      expect(await readCode(convert(second.id, { slug: `taken-${first.id}` }))).toBe("TM6");
      expect(await readCode(convert(second.id, { owner_id: 987_654 }))).toBe("U1");
      expect(await readAccount(second.id)).toEqual(before);
    });
  });

  test("is converted once by two calls at the same time", async () => {
    const { id } = await makeAccount();
    const replies = await Promise.all(["a", "b"].map((end) => convert(id, { slug: `once-${id}-${end}` })));
    const outcomes = replies.map(({ body }) => body["code"] ?? "converted");
    expect(new Set(outcomes)).toEqual(new Set(["converted", "U1"]));
  });

  test("is a person or a team, whatever statement the process ends before", async () => {
    const { id, username } = await makeAccount();
    const before = await readAccount(id);
    const conversion = { userId: id, name: username, slug: `died-${id}`, ownerId: 1, createdBy: 1, nowMs: 1_000 };
    const attempt = (point: number) =>
      transact(app.database.db.withPlugin(dyingAt(point)), (trx) => convertAccount(trx, conversion));
    let points = 0;
    for (let point = 1; point <= MOST_POINTS; point += 1) {
      const outcome = await attempt(point).then(
        () => "converted",
        (cause: unknown) => (cause instanceof Dead ? "died" : cause),
      );
      if (outcome === "converted") break;
      expect(outcome).toBe("died");
      points = point;
      expect(await readAccount(id)).toEqual(before);
      const teams = app.database.db.selectFrom("teams").select("id").where("account_id", "=", id);
      expect(await teams.execute()).toEqual([]);
    }
    expect(points).toBeGreaterThan(15);
    expect(points).toBeLessThan(MOST_POINTS);
    expect(await readAccount(id)).toMatchObject({ kind: 1, quota: before.quota });
  });
});
