import {
  teamTokenCreate,
  teamTokenDelete,
  teamTokenGet,
  teamTokenKey,
  teamTokenList,
  teamTokenRotate,
  teamTokenSetStatus,
  teamTokenUpdate,
  tokenCreate,
  tokenDelete,
  tokenGet,
  tokenList,
  tokenRotate,
  tokenSetStatus,
  tokenUpdate,
  type CallInput,
  type CallAnswer,
  type Token,
} from "@fairway/wire";
import type { Reference } from "../../core/arguments.ts";
import type { SessionClient } from "../../session/session.ts";
import { resolveAmong, resolveIdByName } from "../names.ts";
import { rowsUpTo } from "../paging.ts";

type ListQuery = NonNullable<CallInput<typeof teamTokenList>["query"]>;
type Fields = NonNullable<CallInput<typeof teamTokenUpdate>["body"]>;
type NewFields = NonNullable<CallInput<typeof teamTokenCreate>["body"]>;

/** The tokens that commands are about: those of the user, or those of a team. */
export interface TokenOwner {
  /** Undefined = the user. */
  readonly team: number | undefined;
  readonly client: SessionClient;
  list(query: ListQuery): Promise<{ readonly data: readonly Token[]; readonly total: number | undefined }>;
  read(id: number): Promise<{ readonly data: Token; readonly tag: string }>;
  /** Returns the key without `sk-`. */
  readKey(id: number): Promise<string>;
  create(body: NewFields & Pick<CallInput<typeof tokenCreate>["body"] & object, "budget">): Promise<Token>;
  update(id: number, body: Fields, tag: string): Promise<Token>;
  setStatus(id: number, status: number): Promise<Token>;
  remove(id: number): Promise<unknown>;
  rotate(id: number, graceSeconds: number, tag: string): Promise<CallAnswer<typeof tokenRotate>["data"]>;
  /** Returns the id of an argument; `isExact` accepts only whole names. */
  resolve(reference: Reference, isExact?: boolean): Promise<number>;
}

export function openTokens(client: SessionClient, team: number | undefined): TokenOwner {
  return team === undefined ? openOwnTokens(client) : openTeamTokens(client, team);
}

function openOwnTokens(client: SessionClient): TokenOwner {
  return {
    team: undefined,
    client,
    list: (query) => client.call(tokenList, { query }),
    read: (id) => client.read(tokenGet, { params: { id } }),
    readKey: async (id) => (await client.call(tokenGet, { params: { id } })).data.key,
    create: async ({ service_account_id: _none, ...body }) => (await client.call(tokenCreate, { body })).data,
    update: async (id, body, tag) =>
      (await client.call(tokenUpdate, { body: { id, ...body }, headers: { "If-Match": tag } })).data,
    setStatus: async (id, status) =>
      (await client.call(tokenSetStatus, { query: { status_only: true }, body: { id, status } })).data,
    remove: (id) => client.call(tokenDelete, { params: { id } }),
    rotate: async (id, grace_seconds, tag) =>
      (await client.call(tokenRotate, { params: { id }, body: { grace_seconds }, headers: { "If-Match": tag } })).data,
    resolve: async (reference, isExact = false) =>
      typeof reference === "number" ? reference : resolveIdByName(client, reference, isExact),
  };
}

function openTeamTokens(client: SessionClient, team: number): TokenOwner {
  const params = (tid: number) => ({ params: { id: team, tid } });
  const list: TokenOwner["list"] = (query) => client.call(teamTokenList, { params: { id: team }, query });
  return {
    team,
    client,
    list,
    read: (id) => client.read(teamTokenGet, params(id)),
    readKey: async (id) => (await client.call(teamTokenKey, params(id))).data.key,
    create: async ({ budget: _none, ...body }) =>
      (await client.call(teamTokenCreate, { params: { id: team }, body })).data,
    update: async (id, body, tag) =>
      (await client.call(teamTokenUpdate, { ...params(id), body, headers: { "If-Match": tag } })).data,
    setStatus: async (id, status) => (await client.call(teamTokenSetStatus, { ...params(id), body: { status } })).data,
    remove: (id) => client.call(teamTokenDelete, params(id)),
    rotate: async (id, grace_seconds, tag) =>
      (await client.call(teamTokenRotate, { ...params(id), body: { grace_seconds }, headers: { "If-Match": tag } }))
        .data,
    resolve: async (reference, isExact = false) => {
      if (typeof reference === "number") return reference;
      const read = async (keyword: string, limit: number) =>
        (await rowsUpTo(limit, (page) => list({ keyword, ...page }))).rows;
      return resolveAmong(reference, read, isExact);
    },
  };
}
