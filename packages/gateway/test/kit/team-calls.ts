import * as wire from "@fairway/wire";
import type { ApiCaller, ApiReply } from "./api-caller.ts";

/** Every call about a team, with who may send it. */

export const ACTORS = ["owner", "admin", "member", "viewer", "operator", "root", "former", "stranger"] as const;
export type Actor = (typeof ACTORS)[number];

/** A team with one row of everything that calls name by its id. */
export interface Subject {
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

export const WEBHOOK = { name: "hook", format: "standard", url: "https://fairway-test.invalid/hook" };

export interface Case {
  readonly send: (who: ApiCaller, team: Subject) => Promise<ApiReply>;
  /** Who may, of the roles of the team and of administrators. */
  readonly may: readonly Actor[];
}

const OPERATORS = ["operator", "root"] as const;
const ALL = ["owner", "admin", "member", "viewer", ...OPERATORS] as const;
const MANAGERS = ["owner", "admin", ...OPERATORS] as const;
const REPORTERS = ["owner", "admin", "viewer", ...OPERATORS] as const;

export const CASES: Readonly<Record<string, Case>> = {
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

export const CALLS = Object.values<unknown>(wire).filter(
  (value): value is wire.Endpoint =>
    typeof value === "object" && value !== null && "path" in value && String(value.path).startsWith("/api/team/{id}"),
);
