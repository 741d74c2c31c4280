import {
  DEFAULT_GRACE_SECONDS,
  resolvePage,
  teamTokenCreate,
  teamTokenDelete,
  teamTokenGet,
  teamTokenKey,
  teamTokenList,
  teamTokenRotate,
  teamTokenSetStatus,
  teamTokenUpdate,
  TOKEN_PAGE_CAP,
  TOKEN_STATUS,
  type TeamToken,
  type Token,
  type TokenInput,
} from "@fairway/wire";
import type { Transaction } from "kysely";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { requireServiceAccount as requireAccount } from "../../teams/service-accounts.ts";
import type { TeamRight } from "../../teams/rights.ts";
import type { TeamAccess } from "../../teams/team.ts";
import { checkEnabling, tokenFields, type TokenFields } from "../tokens/input.ts";
import { calculateDifference, movedBy } from "../tokens/quota-change.ts";
import type { TokenRotations } from "../tokens/rotation.ts";
import type { TokenStore } from "../tokens/store.ts";
import { tokenTag, type TokenRow } from "../tokens/token-rows.ts";
import { checkKeyCount, checkLife, listTeamGroups } from "./key-rules.ts";
import { findHolders, type FoundHolder } from "./key-holders.ts";
import { mayInTeam, requireTeam, type TeamCall } from "./require-team.ts";
import type { TeamStore } from "./store.ts";
import { toTeamToken, type KeyHolder } from "./view.ts";

export interface TeamTokenDeps {
  readonly store: TeamStore;
  readonly tokens: TokenStore;
  readonly rotations: Pick<TokenRotations, "rotate">;
  readonly clock: Clock;
  readonly maxTokens: number;
}

const NO_FILTER = { keyPart: "", sort: "", order: "" };

export function teamTokenRoutes(deps: TeamTokenDeps): Route[] {
  const { store, tokens } = deps;
  return [
    implement(teamTokenList, async (call) => {
      const access = await requireTeam(store.db, call, "see");
      const isOfAll = mayInTeam(access, call.caller, "manageKeys");
      if (!isOfAll && !mayInTeam(access, call.caller, "useKeys")) throw new Refusal("team_right_missing");
      const { rows, total } = await tokens.page({
        ...NO_FILTER,
        ...call.query,
        expiringWithin: call.query.expiring,
        ...resolvePage(call.query, TOKEN_PAGE_CAP),
        userId: access.team.accountId,
        memberId: isOfAll ? undefined : call.caller.userId,
      });
      call.setTotal(total);
      return toViews(deps, access, call.caller, rows);
    }),
    implement(teamTokenGet, async (call) => {
      const found = await requireKey(deps, call, "see");
      setTag(call.response, tokenTag(found.token));
      return toTeamToken(found.token, found.holder, mayRead(found, call.caller));
    }),
    implement(teamTokenCreate, async (call) => {
      const access = await requireTeam(store.db, call, "useKeys");
      const token = await makeKey(deps, access, call);
      return first(await toViews(deps, access, call.caller, [token]));
    }),
    implement(teamTokenUpdate, async (call) => {
      const { access, token } = await requireKey(deps, call, "edit");
      const { original_remain_quota: _original, ...body } = call.body;
      const by = calculateDifference(call.body, token);
      const left = by === undefined ? body.remain_quota : Math.max(0, token.remain_quota + by);
      const fields = readFields(deps, access, { ...body, remain_quota: left });
      const { accountId } = access.team;
      const update = { check: tagCheck(call.request), remainFrom: by === undefined ? undefined : movedBy(by) };
      const changed = await tokens.update(accountId, token.id, fields, update);
      if (!changed) throw new Refusal("token_not_found");
      setTag(call.response, tokenTag(changed));
      return first(await toViews(deps, access, call.caller, [changed]));
    }),
    implement(teamTokenSetStatus, async (call) => {
      const found = await requireKey(deps, call, "edit-or-manage");
      return switchKey(deps, found, { caller: call.caller, status: call.body.status });
    }),
    implement(teamTokenDelete, async (call) => {
      const { access, token } = await requireKey(deps, call, "edit-or-manage");
      await tokens.remove(access.team.accountId, token.id);
    }),
    ...keyTextRoutes(deps),
  ];
}

/** The routes that tell or replace the text of a key. */
function keyTextRoutes(deps: TeamTokenDeps): Route[] {
  return [
    implement(teamTokenKey, async (call) => {
      const found = await requireKey(deps, call, "see");
      if (!mayRead(found, call.caller)) throw new Refusal("team_right_missing");
      return { key: found.token.key };
    }),
    implement(teamTokenRotate, async (call) => {
      const found = await requireKey(deps, call, "edit-or-manage");
      const { grace_seconds: graceSeconds = DEFAULT_GRACE_SECONDS } = call.body;
      const { accountId: userId } = found.access.team;
      const { username: by } = call.caller;
      const check = tagCheck(call.request);
      const rotated = await deps.rotations.rotate({ userId, id: found.token.id, graceSeconds, by, check });
      if (!rotated) throw new Refusal("token_not_found");
      return mayRead(found, call.caller) ? rotated : { ...rotated, key: "" };
    }),
  ];
}

interface Switch {
  readonly caller: Principal;
  readonly status: number;
}

async function switchKey(deps: TeamTokenDeps, found: FoundKey, { caller, status }: Switch): Promise<TeamToken> {
  const { store, tokens, clock } = deps;
  const { access, token, holder } = found;
  if (status !== TOKEN_STATUS.enabled && status !== TOKEN_STATUS.disabled)
    throw new Refusal("status_not_settable", { field: "status" });
  const isOn = status === TOKEN_STATUS.enabled;
  if (isOn) checkEnabling({ ...token, unlimited: token.unlimited_quota }, seconds(clock));
  const isAdmin = access.role === undefined;
  const { accountId } = access.team;
  const changed = await tokens.setStatus(accountId, token.id, { status, by: isAdmin ? "admin" : "owner" });
  if (!changed) throw new Refusal("token_not_found");
  if (isOn && holder.isFormer && access.role !== undefined)
    await store.write(accountId, (trx) => holdKey(trx, token.id, toHolder(caller)));
  return first(await toViews(deps, access, caller, [changed]));
}

/** An admin who enables the key of a former member holds it from then on. */
async function holdKey(trx: Transaction<Schema>, id: number, holder: Holder): Promise<void> {
  await trx.updateTable("tokens").set(holder).where("id", "=", id).execute();
}

type Holder = Pick<TokenRow, "member_id" | "service_account_id">;

/** Returns who holds what the caller makes: a person, or a service account. */
function toHolder({ userId, token }: Principal): Holder {
  const service = token?.serviceAccount;
  return service ? { member_id: 0, service_account_id: service.id } : { member_id: userId, service_account_id: 0 };
}

function isHolder(holder: KeyHolder, caller: Principal): boolean {
  const { member_id: member, service_account_id: service } = toHolder(caller);
  return holder.member === member && holder.serviceAccount === service;
}

interface FoundKey {
  readonly access: TeamAccess;
  readonly token: Token;
  readonly holder: FoundHolder;
}

/**
 * Returns a key of the team of the call. Members find their own ones only; editing is for who holds a key, and for
 * admins of the team if that is a service account.
 */
async function requireKey(
  { store, tokens }: TeamTokenDeps,
  call: TeamCall & { readonly params: { readonly tid: number } },
  what: "see" | "edit" | "edit-or-manage",
): Promise<FoundKey> {
  const access = await requireTeam(store.db, call, "see");
  const { caller, params } = call;
  const may = (right: TeamRight) => mayInTeam(access, caller, right);
  const token = await tokens.get(access.team.accountId, params.tid);
  const holder = (await findHolders(store.db, access.team, [params.tid])).get(params.tid);
  const isOwn = holder !== undefined && isHolder(holder, caller);
  if (!token || !holder || !(may("manageKeys") || (isOwn && access.role !== undefined)))
    throw new Refusal("token_not_found");
  const mayEdit = (isOwn || holder.serviceAccount !== 0) && may("useKeys");
  const isAllowed = { see: true, edit: mayEdit, "edit-or-manage": mayEdit || may("manageKeys") }[what];
  if (!isAllowed) throw new Refusal("team_right_missing");
  return { access, token, holder };
}

/** A key is read in full by its maker, and by admins where the team lets them. */
function mayRead({ access, holder }: Pick<FoundKey, "access" | "holder">, caller: Principal): boolean {
  // The person who made the key of a service account has seen it.
  const isMaker = isHolder(holder, caller) || holder.member === caller.userId;
  const isOwn = isMaker && access.role !== undefined;
  return isOwn || mayInTeam(access, caller, "readKeys");
}

async function toViews(
  { store }: TeamTokenDeps,
  access: TeamAccess,
  caller: Principal,
  tokens: readonly Token[],
): Promise<TeamToken[]> {
  const ids = tokens.map(({ id }) => id);
  const holders = await findHolders(store.db, access.team, ids);
  return tokens.flatMap((token) => {
    const holder = holders.get(token.id);
    return holder ? [toTeamToken(token, holder, mayRead({ access, holder }, caller))] : [];
  });
}

function readFields({ clock }: TeamTokenDeps, { team }: TeamAccess, body: TokenInput): TokenFields {
  const groups = listTeamGroups(team);
  const fields = tokenFields(body, (group) => groups.includes(group));
  checkLife(team, fields.expired_time, seconds(clock));
  return fields;
}

async function makeKey(
  deps: TeamTokenDeps,
  access: TeamAccess,
  {
    body: { service_account_id: serviceId = 0, ...body },
    caller,
  }: {
    readonly body: TokenInput & { readonly service_account_id?: number | undefined };
    readonly caller: Principal;
  },
): Promise<Token> {
  const { team } = access;
  if (serviceId !== 0) await requireServiceAccount(deps, access, { caller, serviceId });
  const own = toHolder(caller);
  const holder = serviceId === 0 ? own : { ...own, service_account_id: serviceId };
  return deps.tokens.create(team.accountId, { ...readFields(deps, access, body), ...holder }, async (count, trx) => {
    if (count >= deps.maxTokens) throw new Refusal("too_many_tokens", { values: { n: deps.maxTokens } });
    if (holder.service_account_id === 0) await checkKeyCount(trx, team, caller.userId);
  });
}

async function requireServiceAccount(
  { store }: TeamTokenDeps,
  access: TeamAccess,
  { caller, serviceId }: { readonly caller: Principal; readonly serviceId: number },
): Promise<void> {
  if (!mayInTeam(access, caller, "manage")) throw new Refusal("team_right_missing", { field: "service_account_id" });
  await requireAccount(store.db, { teamId: access.team.id, id: serviceId });
}

function first(tokens: readonly TeamToken[]): TeamToken {
  const [token] = tokens;
  if (!token) throw new Refusal("token_not_found");
  return token;
}
