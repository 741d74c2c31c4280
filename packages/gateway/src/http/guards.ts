import type { IncomingMessage } from "node:http";
import {
  findCallRights,
  INSTALLATION_TEAM,
  missingScope,
  ROLE,
  type Access,
  type CallRights,
  type Endpoint,
} from "@fairway/wire";
import { nameCaller, requireProof, requireSession, type Identified, type Principal } from "../identity/principal.ts";
import { countedAddress } from "../lib/net/ip.ts";
import { Refusal } from "../lib/refusal.ts";
import type { Admission, Limiter, Rule } from "../limits/limiter.ts";

/** Rules of the rate classes; undefined = the class is off. */
export interface ApiRules {
  /** Callers who are not signed in, by address. */
  readonly address: Rule | undefined;
  /** Signed-in callers, by user. */
  readonly user: Rule | undefined;
  /** Sign-in, codes and other calls that invite guessing, by address. */
  readonly critical: Rule | undefined;
}

const MINIMUM: Readonly<Record<Access, number>> = {
  none: ROLE.guest,
  try: ROLE.guest,
  key: ROLE.guest,
  user: ROLE.user,
  admin: ROLE.admin,
  root: ROLE.root,
};

/** Prefetchers must not trigger calls that change state; neither must pages of other sites: some of them sign in. */
export function checkOrigin(request: IncomingMessage, endpoint: Endpoint): void {
  const purpose = `${header(request, "sec-purpose")} ${header(request, "purpose")} ${header(request, "x-moz")}`;
  if (endpoint.hasEffects && /\b(prefetch|prerender)\b/i.test(purpose))
    throw new Refusal("invalid_parameter", { status: 400 });
  const isWrite = endpoint.method !== "GET" || endpoint.hasEffects;
  if (isWrite && !endpoint.isCrossOrigin && header(request, "sec-fetch-site") === "cross-site") {
    throw new Refusal("invalid_parameter", { status: 400 });
  }
}

/**
 * Counts the call in its caller's API class and, if listed, in the critical class of the address. Returns the first.
 */
export async function checkRate(
  limiter: Limiter,
  rules: ApiRules,
  endpoint: Endpoint,
  subject: { readonly ip: string; readonly principal: Principal | undefined },
): Promise<Admission | undefined> {
  const { principal, ip } = subject;
  const address = countedAddress(ip);
  const admission = principal
    ? await take(limiter, rules.user, String(nameCaller(principal)))
    : await take(limiter, rules.address, address);
  if (endpoint.rate === "critical") await take(limiter, rules.critical, address);
  return admission;
}

/** Returns what a caller has left, in the headers that model calls use. */
export function rateHeaders({ limit, remaining, resetMs }: Admission): Readonly<Record<string, string>> {
  return {
    "X-RateLimit-Limit-Requests": String(limit),
    "X-RateLimit-Remaining-Requests": String(remaining),
    "X-RateLimit-Reset-Requests": `${Math.ceil(resetMs / 1000)}s`,
  };
}

async function take(limiter: Limiter, rule: Rule | undefined, subject: string): Promise<Admission | undefined> {
  if (!rule) return undefined;
  const queue = await limiter.take(rule, subject);
  if (!queue.admitted) {
    throw new Refusal("too_many_requests", { retryAfterSeconds: Math.max(1, Math.ceil(queue.resetMs / 1000)) });
  }
  return queue;
}

/** Returns the principal of valid credentials; undefined for everything else. */
export function findPrincipal(identified: Identified): Principal | undefined {
  if (identified.kind !== "account" || !identified.account) return undefined;
  const { account, via, sessionHash, isProven, token } = identified;
  if (account.isDeleted || account.status !== 1) return undefined;
  const { id: userId, username, role, group } = account;
  return { userId, username, role, group, via, sessionHash, isProven, token };
}

/** True if the credentials name an account that may no longer act; its session ends. */
export function isDeadAccount(identified: Identified): boolean {
  return identified.kind === "account" && findPrincipal(identified) === undefined;
}

/**
 * Refuses callers who are unknown or blocked, whose role is too low or who lack a recent proof, and calls that a page
 * of another site has forged.
 */
export function authorize(request: IncomingMessage, endpoint: Endpoint, identified: Identified): void {
  if (MINIMUM[endpoint.access] === ROLE.guest) return;
  if (identified.kind === "anonymous") throw new Refusal("not_signed_in");
  if (identified.kind === "unknown-token") throw new Refusal("access_token_invalid");
  const principal = findPrincipal(identified);
  if (!principal)
    throw new Refusal(identified.account && !identified.account.isDeleted ? "account_disabled" : "account_deleted");
  checkUserHeader(request, endpoint, principal);
  if (principal.role < MINIMUM[endpoint.access]) throw new Refusal("permission_denied");
  checkService(endpoint, principal);
  checkScope(endpoint, principal);
  const { stepUp } = requireRights(endpoint);
  if (stepUp === "fresh") requireProof(principal);
  if (stepUp === "session") requireSession(principal);
}

const TEAM_PATH = "/api/team/{id}";
/** Calls of people that administrators make about others. */
const OF_OPERATORS: ReadonlySet<string> = new Set(["/api/team/", "/api/token/{id}/move"]);

/**
 * A service account has no account of its own. One of a team makes calls about its team alone, and one of the
 * installation makes those of administrators.
 */
function checkService({ path, access }: Endpoint, { token }: Principal): void {
  if (!token?.serviceAccount || path.startsWith(TEAM_PATH)) return;
  const isOfInstallation = token.serviceAccount.teamId === INSTALLATION_TEAM;
  if (!isOfInstallation || (access === "user" && !OF_OPERATORS.has(path))) throw new Refusal("permission_denied");
}

function checkScope(endpoint: Endpoint, { token }: Principal): void {
  const scope = token && missingScope(token.scopes, requireRights(endpoint));
  if (scope !== undefined) throw new Refusal("scope_missing", { values: { scope } });
}

/** Returns the rights in the table of calls; the start has checked that it names every call of a signed-in user. */
function requireRights(endpoint: Endpoint): CallRights {
  const rights = findCallRights(endpoint);
  if (!rights) throw new Error(`endpoint ${endpoint.name} has no rights`);
  return rights;
}

/**
 * Returns the caller as a handler sees it. For an access token, a call that is open to everyone is personal only if the
 * token's scopes cover it: other tokens get the answer of a stranger.
 */
export function resolveCaller(endpoint: Endpoint, principal: Principal | undefined): Principal | undefined {
  if (MINIMUM[endpoint.access] !== ROLE.guest || !principal?.token) return principal;
  if (principal.token.serviceAccount) return undefined;
  const rights = findCallRights(endpoint);
  return rights && missingScope(principal.token.scopes, rights) === undefined ? principal : undefined;
}

/** The user-id header is the defense against forged calls: no page of another site can set it. */
function checkUserHeader(request: IncomingMessage, endpoint: Endpoint, principal: Principal): void {
  const text = header(request, "new-api-user").trim();
  if (text === "") {
    if (principal.via === "access-token" || (endpoint.withoutUserHeader && isOwnNavigation(request))) return;
    throw new Refusal("user_header_missing");
  }
  if (!/^-?\d{1,16}$/.test(text)) throw new Refusal("user_header_invalid");
  if (Number(text) !== principal.userId) throw new Refusal("user_header_mismatch");
}

function isOwnNavigation(request: IncomingMessage): boolean {
  return header(request, "sec-fetch-mode") === "navigate" && header(request, "sec-fetch-site") === "same-origin";
}

function header(request: IncomingMessage, name: string): string {
  return String(request.headers[name] ?? "");
}
