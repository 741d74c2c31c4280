import {
  ApiProblem,
  formatTime,
  keyHint,
  NEVER_EXPIRES,
  quotaOfDollars,
  status,
  TOKEN_STATUS,
  tokenCreate,
  tokenDelete,
  tokenFacts,
  tokenGet,
  tokenList,
  tokenOfUserSetStatus,
  tokenSetStatus,
  tokenUpdate,
  type Client,
  type Token,
} from "@fairway/wire";
import type { Io } from "../../core/command-context.ts";
import { openSecretFile } from "../../terminal/secret-file.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { exitCodeOf, hintOf, messageOf, unlessMissing } from "../../core/problem.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { moneyText } from "../../print/sheet.ts";
import { isForPeople, printBare, printDone, printList, printOne, type Output, type Shape } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";
import { deleteEach, doEach, type Deletion } from "../each.ts";
import { rowsUpTo, type Part } from "../paging.ts";
import type { SecretPlace } from "./secret.ts";
import { secondsOfDate, secondsOfSpan, spanOf } from "../times.ts";

const STATUS_WORD: Readonly<Record<number, string>> = {
  [TOKEN_STATUS.enabled]: "enabled",
  [TOKEN_STATUS.disabled]: "disabled",
  [TOKEN_STATUS.expired]: "expired",
  [TOKEN_STATUS.exhausted]: "exhausted",
};

/** A key without the key: its ends tell it apart. */
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
    time("LAST USED", "accessed_time"),
  ],
  name: ({ id }) => `token/${id}`,
};

function statusText({ status: state, disabled_by_admin: isByAdmin }: Shown): string {
  const word = STATUS_WORD[state] ?? String(state);
  return isByAdmin ? `${word} by an administrator` : word;
}

function expiryText({ expired_time }: Shown): string {
  return expired_time === NEVER_EXPIRES ? "never" : formatTime(expired_time);
}

/** The token without its key. */
export function shown({ key, ...token }: Token): Shown {
  return { ...token, key_hint: keyHint(key) };
}

export interface TokenListOptions extends Part {
  readonly search?: string;
  readonly group?: string;
  readonly status?: string;
  readonly expiring?: string;
}

export async function listTokens(client: Client, options: TokenListOptions, output: Output): Promise<void> {
  const query = {
    keyword: options.search,
    group: options.group,
    status: Object.keys(STATUS_WORD).find((number) => STATUS_WORD[Number(number)] === options.status),
    expiring: options.expiring === undefined ? undefined : spanOf(options.expiring, "--expiring"),
  };
  const found = await rowsUpTo(options, (page) => client.call(tokenList, { query: { ...query, ...page } }));
  await printList(output, {
    ...TOKENS,
    ...found,
    rows: found.rows.map(shown),
    empty: "No keys. Make one: fairway token create --name laptop",
  });
}

/** One of the caller; for administrators also one of a user, without any part of its key. */
export async function getToken(client: Client, id: number, output: Output): Promise<void> {
  const own = await ownToken(client, id);
  if (own) return printToken(output, shown(own));
  const { data } = await client.call(tokenFacts, { params: { id } });
  await printToken(output, data, { owner: data.username });
}

/** Undefined for a token that is not the caller's. */
async function ownToken(client: Client, id: number): Promise<Token | undefined> {
  try {
    return (await client.call(tokenGet, { params: { id } })).data;
  } catch (problem) {
    if (isTokenMissing(problem)) return undefined;
    throw problem;
  }
}

function isTokenMissing(problem: unknown): boolean {
  return problem instanceof ApiProblem && problem.key === "token_not_found";
}

async function printToken(output: Output, token: Shown, whose: { readonly owner?: string } = {}): Promise<void> {
  if (!isForPeople(output)) return printOne(output, token, { shape: TOKENS });
  const { model_limits_enabled, model_limits, allow_ips, limits } = token;
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
    "allowed addresses": allow_ips === "" ? "all" : allow_ips.split("\n").join(", "),
    limits:
      Object.entries(limits)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ") || "none",
    created: formatTime(token.created_time),
    "last used": token.accessed_time === 0 ? "never" : formatTime(token.accessed_time),
  };
  await printOne(output, token, { shape: TOKENS, words });
}

interface Key {
  readonly id: number;
  readonly name: string;
  readonly key: string;
}

const KEYS: Shape<Key> = {
  kind: "Token",
  columns: [number("ID", "id"), plain("NAME", "name"), plain("KEY", "key")],
  name: ({ id }) => `token/${id}`,
};

/** The one command that prints a key that was made before. */
export async function printKey(
  client: Client,
  id: number,
  { output, io }: { readonly output: Output; readonly io: Io },
): Promise<void> {
  const { data } = await client.call(tokenGet, { params: { id } });
  if (io.isTerminal) output.note("Anyone who reads this key can spend its quota.");
  const key = `sk-${data.key}`;
  await printBare(output, key, { id, name: data.name, key }, KEYS);
}

export interface TokenUpdateOptions {
  readonly name?: string;
  readonly quota?: string;
  readonly expires?: string;
  readonly models?: string;
  readonly group?: string;
  readonly allowIp?: readonly string[];
}

/** The gateway replaces all fields, so those that stay are sent as they were read. */
export async function updateToken(
  client: SessionClient,
  id: number,
  options: TokenUpdateOptions,
  { output, nowSeconds }: { readonly output: Output; readonly nowSeconds: number },
): Promise<void> {
  if (Object.keys(options).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway token update --help`");
  const { data: token, tag } = await client.read(tokenGet, { params: { id } });
  const { models, expires, allowIp, name = token.name, group = token.group } = options;
  const { data } = await client.call(tokenUpdate, {
    body: {
      id,
      name,
      group,
      ...(await quotaFields(client, options.quota, token)),
      expired_time: expires === undefined ? token.expired_time : expiryOf(expires, nowSeconds),
      model_limits_enabled: models === undefined ? token.model_limits_enabled : models !== "",
      model_limits: models ?? token.model_limits,
      allow_ips: allowIp?.join("\n") ?? token.allow_ips,
    },
    headers: { "If-Match": tag },
  });
  await printDone(output, shown(data), `Changed key ${id}, ${data.name}.`, TOKENS);
}

async function quotaFields(client: Client, amount: string | undefined, token: Token) {
  const { unlimited_quota, remain_quota } = token;
  if (amount === undefined) return { unlimited_quota, remain_quota };
  if (amount === "unlimited") return { unlimited_quota: true, remain_quota };
  const { data } = await client.call(status, {});
  return { unlimited_quota: false, remain_quota: quotaOf(amount, data.quota_per_unit) };
}

/** Those of the caller; administrators also switch the tokens of their users. */
export async function switchTokens(
  client: Client,
  ids: readonly number[],
  verb: "enable" | "disable",
  output: Output,
): Promise<void> {
  const wanted = verb === "enable" ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled;
  const act = async (id: number) => {
    try {
      await client.call(tokenSetStatus, { query: { status_only: true }, body: { id, status: wanted } });
    } catch (problem) {
      if (!isTokenMissing(problem) || !(await unlessMissing(client.call(tokenFacts, { params: { id } }))))
        throw problem;
      await client.call(tokenOfUserSetStatus, { params: { id }, body: { status: wanted } });
    }
  };
  await doEach({ noun: "token", done: `${verb}d`, kind: "TokenSwitch", ids, act }, output);
}

export async function deleteTokens(
  client: Client,
  ids: readonly number[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const deletion: Deletion = {
    noun: "token",
    kind: "TokenDelete",
    ids,
    question: (named) => `Delete key ${named}`,
    nameOf: async (id) => (await client.call(tokenGet, { params: { id } })).data.name,
    remove: (id) => client.call(tokenDelete, { params: { id } }),
  };
  await deleteEach(deletion, yes, output);
}

export interface TokenCreateOptions {
  readonly name: string;
  readonly quota: string;
  readonly expires: string;
  readonly models?: string;
  readonly group?: string;
  readonly allowIp?: readonly string[];
  readonly count: number;
  readonly outputFile?: string;
  readonly showKey?: boolean;
  readonly writeSecret?: SecretPlace;
  readonly replaceSecret?: boolean;
  readonly kubeContext?: string;
}

/** The end of the year 9999. */
const LAST_TIME = 253_402_300_799;

export async function createToken(
  client: Client,
  options: TokenCreateOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const isUnlimited = options.quota === "unlimited";
  const expires = expiryOf(options.expires, nowSeconds);
  const amount = isUnlimited ? 0 : quotaOf(options.quota, (await client.call(status, {})).data.quota_per_unit);
  const file = options.outputFile === undefined ? undefined : openSecretFile(options.outputFile);
  const secret = await secretOf(options);
  const made: (Key & Token)[] = [];
  for (let at = 1; at <= options.count; at++) {
    const name = options.count === 1 ? options.name : `${options.name}-${at}`;
    made.push(await makeToken(client, { ...options, name }, { isUnlimited, amount, expires }));
    // What was made before a failure is not lost.
    file?.write(made.map(({ key }) => key));
  }
  if (secret) return writeSecret(client, secret, made, output);
  if (options.outputFile !== undefined) {
    const what = made.length === 1 ? "the key" : `${made.length} keys`;
    output.note(`Wrote ${what} to ${options.outputFile}.`);
  }
  await (options.outputFile === undefined || options.showKey ? printKeys : printNames)(output, made);
}

/** Undefined where the key goes elsewhere. */
async function secretOf({ writeSecret: place, replaceSecret: isReplaced = false, kubeContext }: TokenCreateOptions) {
  if (place)
    return { place, ...(await (await import("./secret.ts")).openKeySecret(place, { kubeContext, isReplaced })) };
  if (isReplaced || kubeContext !== undefined)
    throw new CliError(
      `${isReplaced ? "--replace-secret" : "--kube-context"} names no Secret`,
      EXIT.usage,
      "add --write-secret NAMESPACE/NAME",
    );
  return undefined;
}

/** A key that no Secret takes is of no use, so it is deleted again. */
async function writeSecret(
  client: Client,
  secret: NonNullable<Awaited<ReturnType<typeof secretOf>>>,
  made: readonly Key[],
  output: Output,
): Promise<void> {
  const { namespace, name } = secret.place;
  for (const token of made) {
    try {
      await secret.write(token);
    } catch (thrown) {
      await client.call(tokenDelete, { params: { id: token.id } });
      const message = `the Secret ${namespace}/${name} was not written, and the new key is deleted again: `;
      throw new CliError(message + messageOf(thrown), exitCodeOf(thrown), hintOf(thrown));
    }
    output.note(`Wrote key ${token.id}, ${token.name}, to the Secret ${namespace}/${name}.`);
    if (secret.before !== undefined)
      output.note(`Key ${secret.before}, which it had before, stays valid: fairway token delete ${secret.before}`);
  }
  await printNames(output, made);
}

interface Terms {
  readonly isUnlimited: boolean;
  readonly amount: number;
  readonly expires: number;
}

async function makeToken(client: Client, options: TokenCreateOptions, { isUnlimited, amount, expires }: Terms) {
  const { data } = await client.call(tokenCreate, {
    body: {
      name: options.name,
      unlimited_quota: isUnlimited,
      remain_quota: amount,
      expired_time: expires,
      model_limits_enabled: options.models !== undefined,
      model_limits: options.models ?? "",
      allow_ips: options.allowIp?.join("\n") ?? "",
      group: options.group ?? "",
    },
  });
  return { ...data, key: `sk-${data.key}` };
}

/** What scripts read where the keys are in a file. */
async function printNames(output: Output, made: readonly Key[]): Promise<void> {
  if (isForPeople(output)) return;
  const rows = made.map(({ id, name }) => ({ id, name }));
  const columns = [number<Named>("ID", "id"), plain<Named>("NAME", "name")];
  await printList(output, { kind: "Token", columns, name: ({ id }) => `token/${id}`, rows, empty: "" });
}

async function printKeys(output: Output, made: readonly (Key & Token)[]): Promise<void> {
  const [first] = made;
  if (made.length === 1 && first) return printBare(output, first.key, first, KEYS);
  if (isForPeople(output) || output.format === "raw") for (const { key } of made) output.out(key);
  else await printList(output, { ...KEYS, rows: made, empty: "" });
}

type Named = Pick<Key, "id" | "name">;

/** `5usd`, `$5` or units of quota; `quotaPerUnit` units are a dollar. */
export function quotaOf(text: string, quotaPerUnit: number, flag = "--quota"): number {
  const money = /^\$?(\d+(?:\.\d+)?)(?:usd)?$/i.exec(text)?.[1];
  const isMoney = /^\$|usd$/i.test(text);
  const amount =
    isMoney && money !== undefined
      ? quotaOfDollars(money, quotaPerUnit)
      : /^\d+$/.test(text)
        ? Number(text)
        : undefined;
  if (amount === undefined || !Number.isSafeInteger(amount))
    throw new CliError(
      `${flag} ${text} is no amount`,
      EXIT.usage,
      flag === "--quota" ? "write 5usd, 500000 or unlimited" : "write 5usd or 500000",
    );
  return amount;
}

/** `never`, `30d`, `12h`, or a date; epoch seconds. */
export function expiryOf(text: string, nowSeconds: number): number {
  if (text === "never") return NEVER_EXPIRES;
  const span = secondsOfSpan(text);
  const at = span === undefined ? secondsOfDate(text) : nowSeconds + span;
  if (at === undefined || at > LAST_TIME)
    throw new CliError(`--expires ${text} is no time`, EXIT.usage, "write never, 30d, 12h or 2027-01-31");
  if (at <= nowSeconds)
    throw new CliError(`--expires ${text} has passed already`, EXIT.usage, "write never, 30d, 12h or a later date");
  return at;
}
