import { createDatabase } from "@fairway/testkit/databases";
import * as wire from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountRow } from "../../src/identity/accounts/accounts.ts";
import { insertRow } from "../../src/storage/inserts.ts";
import type { ApiCaller, ApiReply } from "../kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../kit/management-app.ts";
import { signInMembers, type Members } from "../kit/members.ts";

/**
 * Actor by subject by call: an actor that may make a call may still not make it about everyone. Every call for administrators
 * is listed here, with what it does to a user, or as one that is about no user.
 */

let app: ManagementApp;
let members: Members;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
}, 60_000);
afterAll(() => app.close());

const ENDPOINTS = Object.values<unknown>(wire).filter(
  (value): value is wire.Endpoint =>
    typeof value === "object" && value !== null && "access" in value && "method" in value,
);

const SUBJECTS = ["user", "self", "equal", "root"] as const;
type SubjectKind = (typeof SUBJECTS)[number];

/** A user with a token and budgets. */
interface Subject {
  readonly id: number;
  readonly token: number;
  readonly budgets: readonly number[];
}

let made = 0;

async function createSubject(kind: SubjectKind, actor: ApiCaller): Promise<Subject> {
  const { db } = app.database;
  const account = { username: `subject${(made += 1)}`, passwordHash: "x", createdAt: 1 };
  const id =
    kind === "self"
      ? actor.userId
      : kind === "root"
        ? members.root.userId
        : await insertRow(db, "users", accountRow({ ...account, role: kind === "equal" ? 10 : 1 }));
  const { root } = members;
  const { id: token } = await root.data<wire.Token>(root.post("/api/token/", { name: account.username }));
  await db.updateTable("tokens").set({ user_id: id }).where("id", "=", token).execute();
  await db.deleteFrom("budgets").execute();
  const budget = { period: "month", time_zone: "UTC", quota_limit: 5, soft_percent: 80, is_hard: 1, window_start: 1 };
  const budgets: number[] = [];
  for (const one of [
    { scope: "user", subject: String(id) },
    { scope: "token", subject: String(token) },
  ] as const) {
    budgets.push(await insertRow(db, "budgets", { ...budget, ...one, used: 0, held: 0 }));
  }
  return { id, token, budgets };
}

interface Case {
  /** The calls that must all be let in, or all be refused. */
  readonly calls: (actor: ApiCaller, subject: Subject) => Promise<ApiReply>[];
  /** Subjects that an administrator of role 10 may name. */
  readonly admin: readonly SubjectKind[];
  /** Subjects that the super administrator may name; all of them when absent. */
  readonly root?: readonly SubjectKind[];
}

const BELOW = ["user"] as const;
const VISIBLE = ["user", "self"] as const;
const NOT_ROOT = ["user", "equal"] as const;

const CASES: Readonly<Record<string, Case>> = {
  userGet: { admin: VISIBLE, calls: (actor, { id }) => [actor.get(`/api/user/${id}`)] },
  userUpdate: {
    admin: BELOW,
    calls: (actor, { id }) => [
      actor.put("/api/user/", { id, display_name: "new" }),
      actor.put("/api/user/", { id, quota: 5 }),
      actor.put("/api/user/", { id, limits: {} }),
    ],
  },
  userManage: {
    admin: BELOW,
    calls: (actor, { id }) => [
      actor.post("/api/user/manage", { id, action: "enable" }),
      actor.post("/api/user/manage", { id, action: "add_quota", value: 1 }),
    ],
  },
  userTopUp: { admin: BELOW, calls: (actor, { id }) => [actor.post("/api/topup", { user_id: id, quota: 1 })] },
  userDelete: { admin: BELOW, root: NOT_ROOT, calls: (actor, { id }) => [actor.delete(`/api/user/${id}`)] },
  userTwoFactorReset: { admin: BELOW, calls: (actor, { id }) => [actor.delete(`/api/user/${id}/two_factor`)] },
  compatibleFactorReset: { admin: BELOW, calls: (actor, { id }) => [actor.delete(`/api/user/${id}/2fa`)] },
  compatiblePasskeyReset: { admin: BELOW, calls: (actor, { id }) => [actor.delete(`/api/user/${id}/reset_passkey`)] },
  tokenListOfUser: { admin: VISIBLE, calls: (actor, { id }) => [actor.get(`/api/user/${id}/tokens`)] },
  tokenFacts: { admin: VISIBLE, calls: (actor, { token }) => [actor.get(`/api/token/${token}/facts`)] },
  tokenOfUserSetStatus: {
    admin: VISIBLE,
    calls: (actor, { token }) => [actor.put(`/api/token/${token}/status`, { status: 2 })],
  },
  tokenOfUserRotate: {
    admin: VISIBLE,
    calls: (actor, { token }) => [actor.post(`/api/token/${token}/replace`, {})],
  },
  budgetGet: {
    admin: VISIBLE,
    calls: (actor, { budgets }) => budgets.map((id) => actor.get(`/api/budget/${id}`)),
  },
  budgetHistory: {
    admin: VISIBLE,
    calls: (actor, { budgets }) => budgets.map((id) => actor.get(`/api/budget/${id}/history`)),
  },
  budgetValues: {
    admin: VISIBLE,
    calls: (actor, { budgets }) => budgets.map((id) => actor.get(`/api/budget/${id}/values`)),
  },
  budgetCreate: {
    admin: BELOW,
    calls: (actor, { id, token }) => [
      actor.post("/api/budget/", { scope: "user", subject: String(id), period: "day", quota_limit: 1 }),
      actor.post("/api/budget/", { scope: "token", subject: String(token), period: "day", quota_limit: 1 }),
    ],
  },
  budgetUpdate: {
    admin: BELOW,
    calls: (actor, { budgets }) => budgets.map((id) => actor.put("/api/budget/", { id, quota_limit: 1e9 })),
  },
  budgetReset: {
    admin: BELOW,
    calls: (actor, { budgets }) => budgets.map((id) => actor.post(`/api/budget/${id}/reset`, {})),
  },
  budgetDelete: {
    admin: BELOW,
    calls: (actor, { budgets }) => budgets.map((id) => actor.delete(`/api/budget/${id}`)),
  },
};

/** Calls of administrators that name no user, and lists, which are tried below. */
const ABOUT_NO_USER = [
  /^(channel|pause)/,
  /^redemption/,
  /^(user|batch|budget|order|task|drawing|file|cache|group|job)(List|Search|Get)$/,
  // The leader reads results again; nothing of the user changes.
  /^batchSettle$/,
  /^(batchTotals|cacheUsage)$/,
  /^userCreate$/,
  /^(log|usage)(List|Get|Explain|Stat|Search|Facets|Histogram|Export|Tail|All|Recent|Statistics|Forecast)$/,
  // Sums of the log, which administrators read whole.
  /^reportUsage$/,
  /^(declarativeManaged|statusTest|systemReplicas)$/,
];

test("every call of administrators is in the matrix, or is about no user", () => {
  const isListed = ({ name }: wire.Endpoint) => name in CASES || ABOUT_NO_USER.some((pattern) => pattern.test(name));
  const missing = ENDPOINTS.filter((endpoint) => endpoint.access === "admin" && !isListed(endpoint));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

describe.each(Object.keys(CASES))("%s", (name) => {
  const { calls, admin, root = SUBJECTS } = CASES[name] as Case;

  // @weakness Sessions and permissions: An administrator changes his equals, the super administrator, or his own limits
  test.each(SUBJECTS)("about the subject %s requires the subject's role", async (kind) => {
    const allowed = { user: [] as readonly SubjectKind[], admin, root };
    for (const role of ["user", "admin", "root"] as const) {
      // To the super administrator, the root account is also the caller's own.
      if (role === "root" && kind === "self") continue;
      if (role === "user" && kind === "self") continue;
      const actor = members[role];
      const replies = calls(actor, await createSubject(kind, actor));
      for (const reply of replies) {
        const { body } = await reply;
        expect([role, kind, body["success"]]).toEqual([role, kind, allowed[role].includes(kind)]);
      }
    }
  });
});

test("lists hide what the caller may not see of others", async () => {
  for (const kind of ["root", "equal"] as const) {
    const { id } = await createSubject(kind, members.admin);
    expect(await members.admin.data(members.admin.get("/api/budget/"))).toEqual([]);
    expect(await members.root.data<unknown[]>(members.root.get("/api/budget/"))).toHaveLength(2);
    await app.database.db
      .updateTable("users")
      .set({ email: `mail-of-${id}@x.example` })
      .where("id", "=", id)
      .execute();
    expect((await members.admin.get("/api/user/?page_size=100")).text).not.toContain(`mail-of-${id}@`);
  }
});

test("a new user has a lower role than who makes it", async () => {
  const user = { username: "made", password: "a good password" };
  for (const role of [10, 100]) {
    const { body } = await members.admin.post("/api/user/", { ...user, role });
    expect(body["success"]).toBe(false);
  }
});
