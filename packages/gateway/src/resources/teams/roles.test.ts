import { createDatabase } from "@fairway/testkit/databases";
import * as wire from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiCaller, type ApiReply } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";
import { insertRow } from "../../storage/inserts.ts";
import { transact } from "../../storage/transaction.ts";
import { addMember } from "../../teams/members.ts";
import { createServiceAccount, createServiceToken } from "../../teams/service-accounts.ts";
import { createTeam } from "../../teams/teams.ts";

/** Every call about a team by every role: in the team, in the installation, of a former member and of a stranger. */

const ACTORS = ["owner", "admin", "member", "viewer", "operator", "root", "former", "stranger"] as const;
type Actor = (typeof ACTORS)[number];

let app: ManagementApp;
let accounts: UserAccounts;
const people = new Map<Actor, ApiCaller>();
let made = 0;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  accounts = new UserAccounts(app);
  for (const actor of ACTORS) {
    if (actor !== "root") await accounts.add(actor, { role: actor === "operator" ? 10 : 1 });
    people.set(actor, actor === "root" ? await app.signIn("root") : await app.signIn(actor, ACCOUNT_PASSWORD));
  }
  await accounts.add("guest");
}, 60_000);
afterAll(() => app.close());
// A person is in at most 100 teams.
beforeEach(async () => void (await app.database.db.deleteFrom("team_members").execute()));

const caller = (actor: Actor): ApiCaller => people.get(actor) as ApiCaller;

interface Subject {
  readonly id: number;
  readonly slug: string;
  /** Made by `member`. */
  readonly key: number;
  readonly invitation: number;
  readonly guest: number;
  readonly webhook: number;
  readonly delivery: number;
  /** A service account with an access token. */
  readonly service: number;
  readonly accessToken: number;
  /** Made by the team. */
  readonly budget: number;
  readonly report: number;
}

const WEBHOOK = { name: "hook", format: "standard", url: "https://fairway-test.invalid/hook" };

/** An endpoint of the team, and an event that was delivered to it. */
async function makeWebhook(team: number): Promise<Pick<Subject, "webhook" | "delivery">> {
  const root = caller("root");
  const { id: webhook } = await root.data<{ id: number }>(root.post(`/api/team/${team}/webhook/`, WEBHOOK));
  const { db } = app.database;
  const { id: event } = await db.selectFrom("events").select("id").limit(1).executeTakeFirstOrThrow();
  const delivery = await insertRow(db, "webhook_deliveries", {
    event_id: event,
    endpoint_id: webhook,
    redelivery: 0,
    state: "done",
    created_ms: 1,
    next_at_ms: 1,
    last_error: "",
    body_hash: "",
  });
  return { webhook, delivery };
}

/** A team with a member of each role, a guest, a key and an invitation. */
async function makeSubject(): Promise<Subject> {
  made += 1;
  const slug = `team-${made}`;
  const nowMs = app.clock.now();
  const owner = accounts.findId("owner");
  const { id, accountId } = await transact(app.database.db, async (trx) => {
    const plain = { description: "", labels: {}, settings: wire.DEFAULT_TEAM_SETTINGS, group: "default" };
    const team = await createTeam(trx, {
      ...plain,
      name: slug,
      slug,
      ownerId: owner,
      createdBy: 1,
      source: "manual",
      nowMs,
    });
    for (const role of ["admin", "member", "viewer"] as const)
      await addMember(
        trx,
        { ...team, name: slug, slug },
        { userId: accounts.findId(role), role, source: "manual", addedBy: 1, nowMs },
      );
    const guest = { userId: accounts.findId("guest"), role: "viewer", source: "manual", addedBy: 1, nowMs } as const;
    await addMember(trx, { ...team, name: slug, slug }, guest);
    return team;
  });
  await app.database.raw.run("update users set quota = 1000 where id in (?, ?)", [owner, accountId]);
  const member = caller("member");
  const root = caller("root");
  const body = { name: "k", unlimited_quota: true };
  const key = await member.data<{ id: number }>(member.post(`/api/team/${id}/token/`, body));
  const invitation = await root.data<{ id: number }>(root.post(`/api/team/${id}/invitations`, { role: "viewer" }));
  return {
    id,
    slug,
    key: key.id,
    invitation: invitation.id,
    guest: accounts.findId("guest"),
    ...(await makeWebhook(id)),
    ...(await makeService(id)),
    budget: await makeBudget(id),
    report: await makeReport(id),
  };
}

async function makeBudget(team: number): Promise<number> {
  const body = { scope: "team", period: "day", quota_limit: 5 };
  return (await caller("owner").data<{ id: number }>(caller("owner").post(`/api/team/${team}/budget/`, body))).id;
}

async function makeReport(team: number): Promise<number> {
  const owner = caller("owner");
  const body = { name: "costs", question: { by: [], days: 1 } };
  return (await owner.data<{ id: number }>(owner.post(`/api/team/${team}/report/saved/`, body))).id;
}

async function makeService(team: number): Promise<Pick<Subject, "service" | "accessToken">> {
  const now = Math.floor(app.clock.now() / 1000);
  return transact(app.database.db, async (trx) => {
    const account = { teamId: team, name: "ci", description: "", createdBy: 1, now };
    const id = await createServiceAccount(trx, account);
    const terms = { name: "t", scopes: ["teams:read"], expiresAt: now + 3_600, graceSeconds: 0, createdBy: 1, now };
    const token = await createServiceToken(trx, { teamId: team, id }, terms);
    return { service: id, accessToken: token.id };
  });
}

interface Case {
  readonly send: (who: ApiCaller, team: Subject) => Promise<ApiReply>;
  /** Who may, of the roles of the team and of administrators. */
  readonly may: readonly Actor[];
}

const OPERATORS = ["operator", "root"] as const;
const ALL = ["owner", "admin", "member", "viewer", ...OPERATORS] as const;
const MANAGERS = ["owner", "admin", ...OPERATORS] as const;
const REPORTERS = ["owner", "admin", "viewer", ...OPERATORS] as const;

const CASES: Readonly<Record<string, Case>> = {
  teamGet: { may: ALL, send: (who, { id }) => who.get(`/api/team/${id}`) },
  teamUpdate: { may: MANAGERS, send: (who, { id }) => who.put(`/api/team/${id}`, { description: "x" }) },
  teamDelete: {
    may: ["owner", ...OPERATORS],
    send: (who, { id, slug }) => who.delete(`/api/team/${id}?confirm=${slug}`),
  },
  teamMemberList: { may: ALL, send: (who, { id }) => who.get(`/api/team/${id}/members`) },
  teamMemberAdd: {
    may: OPERATORS,
    send: (who, { id }) => who.post(`/api/team/${id}/members`, { username: "stranger", role: "viewer" }),
  },
  teamMemberUpdate: {
    may: MANAGERS,
    send: (who, { id, guest }) => who.put(`/api/team/${id}/members/${guest}`, { role: "member" }),
  },
  teamMemberDelete: { may: MANAGERS, send: (who, { id, guest }) => who.delete(`/api/team/${id}/members/${guest}`) },
  // The last owner stays, and who is no member cannot leave.
  teamLeave: { may: ["admin", "member", "viewer"], send: (who, { id }) => who.post(`/api/team/${id}/leave`, {}) },
  teamInvitationList: { may: MANAGERS, send: (who, { id }) => who.get(`/api/team/${id}/invitations`) },
  teamInvitationCreate: {
    may: MANAGERS,
    send: (who, { id }) => who.post(`/api/team/${id}/invitations`, { role: "viewer" }),
  },
  teamInvitationDelete: {
    may: MANAGERS,
    send: (who, { id, invitation }) => who.delete(`/api/team/${id}/invitations/${invitation}`),
  },
  teamTokenList: {
    may: ["owner", "admin", "member", ...OPERATORS],
    send: (who, { id }) => who.get(`/api/team/${id}/token/`),
  },
  teamTokenGet: {
    may: ["owner", "admin", "member", ...OPERATORS],
    send: (who, { id, key }) => who.get(`/api/team/${id}/token/${key}`),
  },
  teamTokenCreate: {
    may: ["owner", "admin", "member"],
    send: (who, { id }) => who.post(`/api/team/${id}/token/`, { name: "n" }),
  },
  teamTokenUpdate: {
    may: ["member"],
    send: (who, { id, key }) => who.put(`/api/team/${id}/token/${key}`, { name: "n" }),
  },
  teamTokenSetStatus: {
    may: ["owner", "admin", "member", ...OPERATORS],
    send: (who, { id, key }) => who.put(`/api/team/${id}/token/${key}/status`, { status: 2 }),
  },
  teamTokenDelete: {
    may: ["owner", "admin", "member", ...OPERATORS],
    send: (who, { id, key }) => who.delete(`/api/team/${id}/token/${key}`),
  },
  teamTokenRotate: {
    may: ["owner", "admin", "member", ...OPERATORS],
    send: (who, { id, key }) => who.post(`/api/team/${id}/token/${key}/rotate`, { grace_seconds: 0 }),
  },
  teamTokenKey: { may: ["member"], send: (who, { id, key }) => who.post(`/api/team/${id}/token/${key}/key`, {}) },
  serviceAccountList: { may: MANAGERS, send: (who, { id }) => who.get(`/api/team/${id}/service_account/`) },
  serviceAccountCreate: {
    may: MANAGERS,
    send: (who, { id }) => who.post(`/api/team/${id}/service_account/`, { name: "bot" }),
  },
  serviceAccountUpdate: {
    may: MANAGERS,
    send: (who, { id, service }) => who.put(`/api/team/${id}/service_account/${service}`, { description: "x" }),
  },
  serviceAccountDelete: {
    may: MANAGERS,
    send: (who, { id, service }) => who.delete(`/api/team/${id}/service_account/${service}`),
  },
  serviceTokenList: {
    may: MANAGERS,
    send: (who, { id, service }) => who.get(`/api/team/${id}/service_account/${service}/access_token`),
  },
  serviceTokenCreate: {
    may: MANAGERS,
    send: (who, { id, service }) =>
      who.post(`/api/team/${id}/service_account/${service}/access_token`, {
        name: "deploy",
        scopes: ["teams:read"],
        expires_in: 3_600,
      }),
  },
  serviceTokenDelete: {
    may: MANAGERS,
    send: (who, { id, service, accessToken }) =>
      who.delete(`/api/team/${id}/service_account/${service}/access_token/${accessToken}`),
  },
  teamLog: { may: ALL, send: (who, { id }) => who.get(`/api/team/${id}/log`) },
  teamReport: { may: ALL, send: (who, { id }) => who.get(`/api/team/${id}/report/usage`) },
  teamLogStat: { may: ALL, send: (who, { id }) => who.get(`/api/team/${id}/log/stat`) },
  teamUsage: {
    may: ["owner", "admin", "viewer", ...OPERATORS],
    send: (who, { id }) => who.get(`/api/team/${id}/statistics/usage`),
  },
  teamBudgetList: { may: ALL, send: (who, { id }) => who.get(`/api/team/${id}/budget/`) },
  teamBudgetValues: {
    may: ALL,
    send: (who, { id, budget }) => who.get(`/api/team/${id}/budget/${budget}/values`),
  },
  teamBudgetCreate: {
    may: MANAGERS,
    send: (who, { id }) => who.post(`/api/team/${id}/budget/`, { scope: "team", period: "year", quota_limit: 5 }),
  },
  teamBudgetUpdate: {
    may: MANAGERS,
    send: (who, { id, budget }) => who.put(`/api/team/${id}/budget/${budget}`, { quota_limit: 6 }),
  },
  teamBudgetReset: {
    may: MANAGERS,
    send: (who, { id, budget }) => who.post(`/api/team/${id}/budget/${budget}/reset`, {}),
  },
  teamBudgetDelete: { may: MANAGERS, send: (who, { id, budget }) => who.delete(`/api/team/${id}/budget/${budget}`) },
  teamSavedReportList: { may: REPORTERS, send: (who, { id }) => who.get(`/api/team/${id}/report/saved/`) },
  teamSavedReportCreate: {
    may: MANAGERS,
    send: (who, { id }) => who.post(`/api/team/${id}/report/saved/`, { name: "more", question: { by: [], days: 1 } }),
  },
  teamSavedReportUpdate: {
    may: MANAGERS,
    send: (who, { id, report }) => who.put(`/api/team/${id}/report/saved/${report}`, { hour: 7 }),
  },
  teamSavedReportDelete: {
    may: MANAGERS,
    send: (who, { id, report }) => who.delete(`/api/team/${id}/report/saved/${report}`),
  },
  teamSavedReportRun: {
    may: REPORTERS,
    send: (who, { id, report }) => who.get(`/api/team/${id}/report/saved/${report}/usage`),
  },
  teamWebhookList: { may: MANAGERS, send: (who, { id }) => who.get(`/api/team/${id}/webhook/`) },
  teamWebhookGet: { may: MANAGERS, send: (who, { id, webhook }) => who.get(`/api/team/${id}/webhook/${webhook}`) },
  teamWebhookCreate: { may: MANAGERS, send: (who, { id }) => who.post(`/api/team/${id}/webhook/`, WEBHOOK) },
  teamWebhookUpdate: {
    may: MANAGERS,
    send: (who, { id, webhook }) => who.put(`/api/team/${id}/webhook/${webhook}`, { name: "n" }),
  },
  teamWebhookDelete: {
    may: MANAGERS,
    send: (who, { id, webhook }) => who.delete(`/api/team/${id}/webhook/${webhook}`),
  },
  // Nothing answers at its address, which the call reports.
  teamWebhookTest: {
    may: MANAGERS,
    send: (who, { id, webhook }) => who.post(`/api/team/${id}/webhook/${webhook}/test`, {}),
  },
  teamWebhookRotateSecret: {
    may: MANAGERS,
    send: (who, { id, webhook }) => who.post(`/api/team/${id}/webhook/${webhook}/rotate_secret`, {}),
  },
  teamWebhookDeliveries: {
    may: MANAGERS,
    send: (who, { id, webhook }) => who.get(`/api/team/${id}/webhook/${webhook}/deliveries`),
  },
  teamWebhookRedeliver: {
    may: MANAGERS,
    send: (who, { id, webhook, delivery }) =>
      who.post(`/api/team/${id}/webhook/${webhook}/deliveries/${delivery}/redeliver`, {}),
  },
  teamWebhookRecover: {
    may: MANAGERS,
    send: (who, { id, webhook }) => who.post(`/api/team/${id}/webhook/${webhook}/recover`, { since: 0 }),
  },
  teamAudit: { may: MANAGERS, send: (who, { id }) => who.get(`/api/team/${id}/audit`) },
  teamTransfer: { may: ["owner"], send: (who, { id }) => who.post(`/api/team/${id}/transfer`, { quota: 1 }) },
  teamAdjust: { may: OPERATORS, send: (who, { id }) => who.post(`/api/team/${id}/adjust`, { quota: 1 }) },
  // Only a deleted team is restored.
  teamRestore: { may: [], send: (who, { id }) => who.post(`/api/team/${id}/restore`, {}) },
};

const CALLS = Object.values<unknown>(wire).filter(
  (value): value is wire.Endpoint =>
    typeof value === "object" && value !== null && "path" in value && String(value.path).startsWith("/api/team/{id}"),
);

test("every call about a team is in the matrix", () => {
  expect(CALLS.map(({ name }) => name).toSorted()).toEqual(Object.keys(CASES).toSorted());
});

describe.each(Object.keys(CASES))("%s", (name) => {
  const { may, send } = CASES[name] as Case;

  test("is for those who may", async () => {
    for (const actor of ACTORS) {
      const { body } = await send(caller(actor), await makeSubject());
      expect([actor, body["success"]]).toEqual([actor, may.includes(actor)]);
    }
  });

  test("answers people from outside as for a team that does not exist", async () => {
    const subject = await makeSubject();
    const missing = await send(caller("stranger"), { ...subject, id: 987_654 });
    expect(missing.body["code"]).toBe("TM1");
    for (const actor of ["former", "stranger"] as const) {
      const { root } = { root: caller("root") };
      const userId = accounts.findId("former");
      if (actor === "former") {
        await root.data(root.post(`/api/team/${subject.id}/members`, { user_id: userId, role: "admin" }));
        await root.data(root.delete(`/api/team/${subject.id}/members/${userId}`));
      }
      const { text, status } = await send(caller(actor), subject);
      expect([actor, text, status]).toEqual([actor, missing.text, missing.status]);
    }
  });

  test("needs a scope for teams from an access token", async () => {
    const owner = caller("owner");
    const subject = await makeSubject();
    const scopes = String(wire.CALL_RIGHTS[name]?.areas).includes("billing") ? ["teams", "billing"] : ["teams"];
    const isRead = wire.CALL_RIGHTS[name]?.effect === "read";
    for (const level of ["read", "write"] as const) {
      const given = scopes.map((area) => `${area}:${level}`);
      const made = owner.post("/api/user/self/access_tokens", { name: `${name} ${level}`, scopes: given });
      const withToken = new ApiCaller(app.baseUrl);
      withToken.accessToken = await owner.data<string>(made);
      withToken.userId = owner.userId;
      const { body } = await send(withToken, subject);
      const isLet = isRead || level === "write";
      expect([level, body["code"] === "AU11"]).toEqual([level, !isLet]);
      await owner.data(owner.delete(`/api/user/self/access_tokens?name=${encodeURIComponent(`${name} ${level}`)}`));
    }
  });
});
