import type { IncomingMessage } from "node:http";
import { NEVER_EXPIRES, ROLE, TOKEN_STATUS, USER_STATUS, type Limits, type OptionValues } from "@fairway/wire";
import { recordRawTokenEvent, type EventToken } from "../../events/token-event.ts";
import { AppError, type ErrorCode, type ErrorOwner } from "../../lib/app-error.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { countedAddress } from "../../lib/net/ip.ts";
import type { Limiter, Rule } from "../../limits/limiter.ts";
import { resolveOwnTagLimits } from "../../snapshot/tag-limits.ts";
import type { TokenCache, TokenRecord, UserRecord } from "../../snapshot/types.ts";
import type { Database } from "../../storage/database.ts";
import { readApiKey, type ApiKey } from "../keys/api-key.ts";
import { findImportedKey } from "../keys/imported-key.ts";
import type { Authenticator, Caller, SessionCaller } from "./caller.ts";
import { readHostCookie } from "../sessions/cookies.ts";
import { SESSION_COOKIE, type Sessions } from "../sessions/sessions.ts";
import { checkTeam, resolveTeamGroup } from "./team-rights.ts";

export interface AuthenticatorDeps {
  readonly tokens: TokenCache;
  readonly hashKey: (key: string) => string;
  readonly options: () => OptionValues;
  readonly database: Pick<Database, "raw">;
  readonly sessions: Sessions;
  readonly limiter: Limiter;
  readonly clock: Clock;
}

/** Refusals by token status; every other status except "enabled" is a disabled token. */
const REFUSED: Readonly<Record<number, ErrorCode>> = {
  [TOKEN_STATUS.expired]: "token_expired",
  [TOKEN_STATUS.exhausted]: "token_quota_exhausted",
};

type KeyOptions = { readonly allowExhausted?: boolean };

/** Unknown keys that an address may try in a minute before it gets 429. */
const GUESSES: Rule = { name: "key-guesses", limit: 60, windowMs: 60_000 };
const AUTO_GROUP = "auto";

/** Identifies the caller of a relay route. A cached token costs one HMAC and one map lookup. */
export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  return {
    async byKey(request, ip, options = {}) {
      const url = (request as { originalUrl?: string }).originalUrl ?? request.url ?? "/";
      const read = readApiKey(request.headers, url);
      if (read === undefined) throw new AppError("missing_api_key");
      const own = read === "malformed" ? undefined : await deps.tokens.find(deps.hashKey(read.key));
      const record = own ?? (await findImportedKey(deps, request.headers, url));
      if (!record) throw await unknownKey(deps, ip);
      try {
        const checking = checkToken(deps, record, options);
        if (checking) await checking;
        return buildCaller(deps, record, read === "malformed" ? undefined : read.pin, ip);
      } catch (error) {
        throw AppError.of(error, toErrorOwner(record));
      }
    },
    async recheck({ keyHash }) {
      if (keyHash === undefined) return;
      const record = await deps.tokens.find(keyHash);
      if (!record) throw new AppError("invalid_api_key");
      await checkToken(deps, record, {});
      checkUser(record.user);
    },
    bySession: (request, ip, options) => sessionCaller(deps, request, ip, options),
  };
}

function toErrorOwner({ id, name, group, user, team, rotation }: TokenRecord): ErrorOwner {
  return {
    userId: user.id,
    username: user.username,
    tokenId: id,
    tokenName: name,
    group: group === "" ? user.group : group,
    actor: team?.actor,
    ...(rotation && { keyHint: rotation.hint }),
  };
}

async function unknownKey({ limiter }: AuthenticatorDeps, ip: string): Promise<AppError> {
  const queue = await limiter.take(GUESSES, countedAddress(ip));
  if (queue.admitted) return new AppError("invalid_api_key");
  const retryAfter = Math.max(1, Math.ceil(queue.resetMs / 1000));
  return new AppError("rate_limit_exceeded", { values: { seconds: retryAfter }, retryAfterMs: retryAfter * 1000 });
}

/** Throws if the token may not be used. Returns a promise if the row has to be asked, which may reject. */
function checkToken(
  deps: AuthenticatorDeps,
  record: TokenRecord,
  { allowExhausted = false }: KeyOptions,
): Promise<void> | undefined {
  checkKey(record, deps.clock);
  checkTeam(record.team);
  const code = REFUSED[record.status] ?? "token_disabled";
  const isReadable = allowExhausted && record.status === TOKEN_STATUS.exhausted;
  if (record.status !== TOKEN_STATUS.enabled && !isReadable) throw new AppError(code);
  if (record.expiredTime !== NEVER_EXPIRES && record.expiredTime < seconds(deps.clock)) return expire(deps, record);
  return allowExhausted || record.isUnlimited || record.remainQuota > 0 ? undefined : checkExhausted(deps, record);
}

async function expire(deps: AuthenticatorDeps, record: TokenRecord): Promise<never> {
  // If this replica cannot mark the row, it still refuses the call; the row is marked at the next use.
  await move(deps, record, TOKEN_STATUS.expired, "").catch(() => undefined);
  throw new AppError("token_expired");
}

/** The cached number may be old, so the row decides, and the same statement marks it. */
async function checkExhausted(deps: AuthenticatorDeps, record: TokenRecord): Promise<void> {
  if (await move(deps, record, TOKEN_STATUS.exhausted, " and unlimited_quota = 0 and remain_quota <= 0")) {
    throw new AppError("token_quota_exhausted");
  }
}

/** Its owner is known, so it counts as no guess, and the log shows who still uses it. */
const REPLACED = "This API key was replaced and no longer works. Use the current key of the token.";

function checkKey({ rotation }: TokenRecord, clock: Clock): void {
  if (rotation?.keyExpiresAt !== undefined && rotation.keyExpiresAt <= seconds(clock))
    throw new AppError("invalid_api_key", { message: REPLACED });
}

const MARK_COLUMNS = "id, name, user_id, member_id, key_hint, expired_time, limit_revision";

interface MarkedToken extends EventToken {
  readonly key_hint: string;
  readonly expired_time: number;
  readonly limit_revision: number;
}

/** Marks an enabled token once, with its event; returns whether the row was marked. */
async function move(deps: AuthenticatorDeps, { id }: TokenRecord, status: number, condition: string): Promise<boolean> {
  const { raw } = deps.database;
  const which = `where id = ? and status = 1${condition}`;
  // Most rows have more than the cached number says: a read costs less than a transaction.
  const [row] = await raw.rows<MarkedToken>(`select ${MARK_COLUMNS} from tokens ${which}`, [id]);
  deps.tokens.dropToken(id);
  if (!row) return false;
  return raw.transaction(async (tx) => {
    if ((await tx.run(`update tokens set status = ? ${which}`, [status, id])) === 0) return false;
    await recordRawTokenEvent(tx, raw.kind, row, buildMarkEvent(row, status, deps.clock.now()));
    return true;
  });
}

function buildMarkEvent({ key_hint: hint, expired_time, limit_revision }: MarkedToken, status: number, atMs: number) {
  if (status === TOKEN_STATUS.exhausted)
    return { type: "token.exhausted", atMs, about: `${limit_revision}:${atMs}`, data: { hint } } as const;
  return { type: "token.expired", atMs, about: expired_time, data: { hint, expires_at: expired_time } } as const;
}

function buildCaller(deps: AuthenticatorDeps, record: TokenRecord, pin: ApiKey["pin"], ip: string): Caller {
  const { user, allowedNetworks } = record;
  checkUser(user);
  if (allowedNetworks && !allowedNetworks.some((network) => network.contains(ip))) throw new AppError("ip_not_allowed");
  if (!record.team && record.group !== "") checkGroup(deps.options(), record.group, user.group);
  return {
    userId: user.id,
    username: user.username,
    role: user.role,
    ...buildOwnPart(deps, record),
    userGroup: user.group,
    tokenId: record.id,
    tokenName: record.name,
    keyHash: record.keyHash,
    isUnlimited: record.isUnlimited,
    ...(record.isUnlimited ? {} : { tokenGrant: record.remainQuota + record.usedQuota }),
    tokenRevision: record.revision,
    ...(record.rotation && { keyHint: record.rotation.hint }),
    modelLimits: record.modelLimits,
    tokenLimits: record.limits,
    fallbacks: record.fallbacks,
    ...(record.promptCache && { promptCache: record.promptCache }),
    tags: record.tags,
    tagLimits: record.tagLimits,
    pinnedChannel: pin === undefined ? undefined : pinnedChannel(pin, user),
    ip,
  };
}

/** Returns what differs between keys of persons and of teams. */
function buildOwnPart(
  deps: AuthenticatorDeps,
  { group, user, team, memberId }: TokenRecord,
): Pick<Caller, "group" | "userLimits" | "memberLimits" | "team"> {
  if (!team) return { group: group === "" ? user.group : group, userLimits: user.limits };
  const { limits, member_limits: memberLimits } = team.settings;
  return {
    team,
    group: resolveTeamGroup(team, { named: group, own: user.group }, deps.options()),
    userLimits: orNone(limits),
    ...(memberId !== 0 && { memberLimits: orNone(memberLimits) }),
  };
}

function orNone(limits: Limits): Limits | undefined {
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function checkUser({ status, isDeleted }: Pick<UserRecord, "status" | "isDeleted">): void {
  if (isDeleted || status !== USER_STATUS.enabled) throw new AppError("user_disabled");
}

/**
 * Checks a group: it must be offered to users or be the user's own, and must have a ratio. `auto` has no ratio of its
 * own.
 */
function checkGroup(options: OptionValues, group: string, userGroup: string): void {
  const isOffered = Object.hasOwn(options.UserUsableGroups, group);
  const isUsable =
    group === AUTO_GROUP ? isOffered : (isOffered || group === userGroup) && Object.hasOwn(options.GroupRatio, group);
  if (!isUsable) throw new AppError("group_not_allowed", { values: { group } });
}

function pinnedChannel(pin: string, { role }: UserRecord): number {
  if (role < ROLE.admin) throw new AppError("channel_pin_forbidden");
  if (!/^[1-9]\d{0,14}$/.test(pin)) throw new AppError("invalid_channel_id");
  return Number(pin);
}

async function sessionCaller(
  deps: AuthenticatorDeps,
  request: IncomingMessage,
  ip: string,
  { isRead = false }: { readonly isRead?: boolean } = {},
): Promise<SessionCaller> {
  const session = await deps.sessions.find(readHostCookie(request, SESSION_COOKIE) ?? "");
  if (!session || session.userId === 0) throw noSession(request);
  const { account } = session;
  if (!account) throw new AppError("unauthorized");
  checkUser(account);
  if (!isRead && Number(request.headers["new-api-user"] ?? Number.NaN) !== account.id)
    throw new AppError("user_mismatch");
  return {
    inGroup(named) {
      const group = named === undefined || named === "" ? account.group : named;
      if (group !== account.group) checkGroup(deps.options(), group, account.group);
      return {
        userId: account.id,
        username: account.username,
        role: account.role,
        group,
        userGroup: account.group,
        tokenId: 0,
        tokenName: `playground-${group}`,
        isUnlimited: true,
        modelLimits: undefined,
        userLimits: account.limits,
        tagLimits: resolveOwnTagLimits(undefined, { id: account.id, limits: account.tagLimits }),
        pinnedChannel: undefined,
        ip,
      };
    },
  };
}

function noSession(request: IncomingMessage): AppError {
  const code: ErrorCode = request.headers.authorization ? "access_token_not_supported" : "unauthorized";
  return new AppError(code);
}
