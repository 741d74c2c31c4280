import {
  ApiProblem,
  formatTime,
  isKeyText,
  keyHint,
  NEVER_EXPIRES,
  status,
  TOKEN_STATUS,
  tokenFacts,
  tokenFind,
  tokenGet,
  tokenOfUserSetStatus,
  type Client,
  type TeamToken,
  type Token,
  resolveLastUse,
} from "@fairway/wire";
import type { Io } from "../../core/io.ts";
import { parseQuota } from "../../core/amounts.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { formatTagLimits } from "../../core/tag-limits.ts";
import { unlessMissing } from "../../core/problem.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { moneyText } from "../../print/sheet.ts";
import { isForPeople, printBare, printDone, printList, printOne, type Output, type Shape } from "../../print/output.ts";
import { deleteEach, doEach, type Deletion } from "../each.ts";
import { printPart, type Part } from "../paging.ts";
import { copyFields, readFields, type FieldOptions } from "./fields.ts";
import type { TokenOwner } from "./owner.ts";
import { parseDateSeconds, parseSpanSeconds, parseSpan } from "../../core/times.ts";

const STATUS_WORD: Readonly<Record<number, string>> = {
  [TOKEN_STATUS.enabled]: "enabled",
  [TOKEN_STATUS.disabled]: "disabled",
  [TOKEN_STATUS.expired]: "expired",
  [TOKEN_STATUS.exhausted]: "exhausted",
};

/** A token without its key; the first and last characters of the key identify it. */
export type Shown = Omit<Token, "key"> & { readonly key_hint: string };

/** How tokens are printed. */
export const TOKENS: Shape<Shown> = {
  kind: "Token",
  columns: [
    number("ID", "id"),
    plain("NAME", "name"),
    plain("KEY", "key_hint"),
    { title: "STATUS", value: statusText },
    { ...quota("LEFT", "remain_quota"), text: ({ unlimited_quota }) => (unlimited_quota ? "unlimited" : undefined) },
    quota("USED", "used_quota"),
    { ...time("EXPIRES", "expired_time"), value: expiryText },
    plain("GROUP", "group"),
    {
      title: "MODELS",
      value: ({ model_limits_enabled, model_limits }) => (model_limits_enabled ? model_limits : "all"),
    },
  ],
  wide: [
    plain("UNLIMITED", "unlimited_quota"),
    plain("ADDRESSES", "allow_ips"),
    time("CREATED", "created_time"),
    { ...time<Shown>("LAST USED", "accessed_time"), value: (row) => lastUseText(row) },
  ],
  name: ({ id }) => `token/${id}`,
};

function statusText({ status: state, disabled_by_admin: isByAdmin }: Shown): string {
  const word = STATUS_WORD[state] ?? String(state);
  return isByAdmin ? `${word} by an administrator` : word;
}

function lastUseText(token: Parameters<typeof resolveLastUse>[0]): string {
  const at = resolveLastUse(token);
  return at === 0 ? "never" : formatTime(at);
}

function expiryText({ expired_time }: Shown): string {
  return expired_time === NEVER_EXPIRES ? "never" : formatTime(expired_time);
}

/** How keys of a team are printed. */
const TEAM_TOKENS: Shape<Shown> = { ...TOKENS, columns: [...TOKENS.columns, { title: "HOLDER", value: holderText }] };

/** Returns who holds a key of a team. */
function holderText(token: Shown & Partial<Pick<TeamToken, "member_name" | "service_account">>): string {
  const { member_name: member = "", service_account: service = 0 } = token;
  if (service > 0) return `service account ${service}`;
  return member === "" ? "the team" : member;
}

/** Returns the token without its key. */
export function shown({ key, ...token }: Token): Shown {
  return { ...token, key_hint: keyHint(key) };
}

export interface TokenListOptions extends Part {
  readonly search?: string;
  readonly group?: string;
  readonly status?: string;
  readonly expiring?: string;
}

export async function listTokens(owner: TokenOwner, options: TokenListOptions, output: Output): Promise<void> {
  const { search } = options;
  if (search !== undefined && isKeyText(search)) return listTokenOfKey(owner.client, search, output);
  const query = {
    keyword: search,
    group: options.group,
    status: Object.keys(STATUS_WORD).find((number) => STATUS_WORD[Number(number)] === options.status),
    expiring: options.expiring === undefined ? undefined : parseSpan(options.expiring, "--expiring"),
  };
  const shape = owner.team === undefined ? TOKENS : TEAM_TOKENS;
  const list = { ...shape, toShown: shown, empty: "No keys. Make one: fairway token create --name laptop" };
  await printPart(output, options, list, (page) => owner.list({ ...query, ...page }));
}

/** Lists the token of a whole key, of any owner; the key travels in the body. */
async function listTokenOfKey(client: Client, key: string, output: Output): Promise<void> {
  const rows = await client.call(tokenFind, { body: { key } }).then(
    ({ data }) => [data],
    (problem: unknown) => {
      if (isTokenMissing(problem)) return [];
      throw problem;
    },
  );
  await printList(output, { ...TOKENS, rows, empty: "No token has this key." });
}

/** Returns a token of the caller; administrators also get those of other users, without any part of the key. */
export async function getToken({ client, team, read }: TokenOwner, id: number, output: Output): Promise<void> {
  if (team !== undefined) {
    const token = shown((await read(id)).data);
    return printToken(output, token, { holder: holderText(token) });
  }
  const own = await ownToken(client, id);
  if (own) return printToken(output, shown(own));
  const { data } = await client.call(tokenFacts, { params: { id } });
  await printToken(output, data, { owner: data.username });
}

/** Returns the token; undefined if it does not belong to the caller. */
async function ownToken(client: Client, id: number): Promise<Token | undefined> {
  try {
    return (await client.call(tokenGet, { params: { id } })).data;
  } catch (problem) {
    if (isTokenMissing(problem)) return undefined;
    throw problem;
  }
}

export function isTokenMissing(problem: unknown): boolean {
  return problem instanceof ApiProblem && problem.key === "token_not_found";
}

async function printToken(
  output: Output,
  token: Shown,
  whose: { readonly owner?: string; readonly holder?: string } = {},
): Promise<void> {
  if (!isForPeople(output)) return printOne(output, token, { shape: TOKENS });
  const { model_limits_enabled, model_limits, allow_ips, limits, fallbacks } = token;
  const perUnit = await output.quotaPerUnit();
  const words: Record<string, string> = {
    id: String(token.id),
    name: token.name,
    ...whose,
    key: token.key_hint === "" ? "only its owner sees it" : token.key_hint,
    status: statusText(token),
    left: token.unlimited_quota ? "unlimited" : moneyText(token.remain_quota, perUnit),
    used: moneyText(token.used_quota, perUnit),
    expires: expiryText(token),
    models: model_limits_enabled ? model_limits : "all",
    group: token.group === "" ? "that of the user" : token.group,
    fallbacks: fallbacks === "inherit" ? "those of the operator" : fallbacks,
    ...cacheWords(token),
    "allowed addresses": allow_ips === "" ? "all" : allow_ips.split("\n").join(", "),
    limits:
      Object.entries(limits)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ") || "none",
    ...tagLimitWords(token),
    created: formatTime(token.created_time),
    "last used": lastUseText(token),
    ...rotationWords(token),
  };
  await printOne(output, token, { shape: TOKENS, words });
}

/** Only a choice of the token's own is shown. */
function cacheWords({ prompt_cache: mode }: Shown): Record<string, string> {
  return mode === "off" || mode === "auto" || mode === "always" ? { "prompt cache": mode } : {};
}

/** Only limits of its own are shown. */
function tagLimitWords({ tag_limits: limits }: Shown): Record<string, string> {
  const text = formatTagLimits(limits);
  return text === "" ? {} : { "limits by tag": text };
}

/** Compatible gateways, and older ones, know no rotation. */
function rotationWords(token: Shown): Record<string, string> {
  if ((token.rotated_at as number | undefined) === undefined) return {};
  return {
    "key made": formatTime(token.rotated_at === 0 ? token.created_time : token.rotated_at),
    "old keys until": token.old_keys_until === 0 ? "none works" : formatTime(token.old_keys_until),
    "new key every": token.rotate_days === 0 ? "never by itself" : `${token.rotate_days} days`,
  };
}

export interface Key {
  readonly id: number;
  readonly name: string;
  readonly key: string;
}

export const KEYS: Shape<Key> = {
  kind: "Token",
  columns: [number("ID", "id"), plain("NAME", "name"), plain("KEY", "key")],
  name: ({ id }) => `token/${id}`,
};

/** The only command that prints the key of an existing token. */
export async function printKey(
  owner: TokenOwner,
  id: number,
  { output, io }: { readonly output: Output; readonly io: Io },
): Promise<void> {
  const { data } = await owner.read(id);
  const key = `sk-${owner.team === undefined ? data.key : await owner.readKey(id)}`;
  if (io.isTerminal) output.note("Anyone who reads this key can spend its quota.");
  await printBare(output, key, { id, name: data.name, key }, KEYS);
}

export interface TokenUpdateOptions extends FieldOptions {
  readonly name?: string;
  readonly quota?: string;
  readonly expires?: string;
}

/** The gateway replaces all fields, so unchanged ones are sent as they were read. */
export async function updateToken(
  owner: TokenOwner,
  id: number,
  options: TokenUpdateOptions,
  { output, nowSeconds }: { readonly output: Output; readonly nowSeconds: number },
): Promise<void> {
  if (Object.keys(options).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway token update --help`");
  const { data: token, tag } = await owner.read(id);
  const { models, expires, name = token.name } = options;
  const fields = {
    ...copyFields(token),
    ...readFields(options),
    name,
    ...(await quotaFields(owner.client, options.quota, token)),
    ...(expires !== undefined && { expired_time: parseExpiry(expires, nowSeconds) }),
    ...(models !== undefined && { model_limits_enabled: models !== "" }),
  };
  const data = await owner.update(id, fields, tag);
  await printDone(output, shown(data), `Changed key ${id}, ${data.name}.`, TOKENS);
}

async function quotaFields(client: Client, amount: string | undefined, token: Token) {
  const { unlimited_quota, remain_quota } = token;
  if (amount === undefined) return { unlimited_quota, remain_quota };
  if (amount === "unlimited") return { unlimited_quota: true, remain_quota };
  const { data } = await client.call(status, {});
  return { unlimited_quota: false, remain_quota: parseQuota(amount, data.quota_per_unit) };
}

/** Switches tokens of the caller; administrators also switch those of their users. */
export async function switchTokens(
  owner: TokenOwner,
  ids: readonly number[],
  verb: "enable" | "disable",
  output: Output,
): Promise<void> {
  const wanted = verb === "enable" ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled;
  const { client, team } = owner;
  const act = async (id: number) => {
    try {
      await owner.setStatus(id, wanted);
    } catch (problem) {
      if (
        team !== undefined ||
        !isTokenMissing(problem) ||
        !(await unlessMissing(client.call(tokenFacts, { params: { id } })))
      )
        throw problem;
      await client.call(tokenOfUserSetStatus, { params: { id }, body: { status: wanted } });
    }
  };
  await doEach({ noun: "token", done: `${verb}d`, kind: "TokenSwitch", ids, act }, output);
}

export async function deleteTokens(
  owner: TokenOwner,
  ids: readonly number[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const deletion: Deletion = {
    noun: "token",
    kind: "TokenDelete",
    ids,
    question: (named) => `Delete key ${named}`,
    loadName: async (id) => (await owner.read(id)).data.name,
    remove: (id) => owner.remove(id),
  };
  await deleteEach(deletion, yes, output);
}

/** The end of the year 9999. */
const LAST_TIME = 253_402_300_799;

/** Reads `never`, `30d`, `12h`, or a date; returns epoch seconds. */
export function parseExpiry(text: string, nowSeconds: number): number {
  if (text === "never") return NEVER_EXPIRES;
  const span = parseSpanSeconds(text);
  const at = span === undefined ? parseDateSeconds(text) : nowSeconds + span;
  if (at === undefined || at > LAST_TIME)
    throw new CliError(`--expires ${text} is no time`, EXIT.usage, "write never, 30d, 12h or 2027-01-31");
  if (at <= nowSeconds)
    throw new CliError(`--expires ${text} has passed already`, EXIT.usage, "write never, 30d, 12h or a later date");
  return at;
}
