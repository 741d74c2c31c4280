import { isObject, type JsonObject } from "../../lib/text/json.ts";
import { joinUrl, withoutEnd } from "./join-url.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter } from "./types.ts";

type ListModels = NonNullable<ProviderAdapter["listModels"]>;
type Headers = Readonly<Record<string, string>>;

/**
 * Lists models by `GET {base}{path}`, which answers `{data: [{id}]}`, a bare list, or objects with another name member.
 */
export function listOpenAiModels(path: string, options: ListOptions = {}): ListModels {
  return async (channel, key, http) => {
    const base = withoutEnd(channel.baseUrl, options.pastedEnd) || options.base;
    // Otherwise the key would be sent to another vendor's default URL.
    if (!base) throw new Error("the channel has no base URL");
    const headers = options.headers?.(channel, key) ?? bearerHeaders(key);
    const json = await getJson(http, joinUrl(base, path, options.gatewayDrops).href, headers);
    return namesIn(json, options.list ?? "data", options.name ?? "id");
  };
}

export interface ListOptions {
  readonly base?: string;
  readonly gatewayDrops?: string | undefined;
  readonly pastedEnd?: RegExp | undefined;
  readonly headers?: (channel: ChannelRecord, key: string) => Headers;
  /** Member that holds the list. */
  readonly list?: string;
  /** Member of an entry that holds the name. */
  readonly name?: string;
}

export function bearerHeaders(key: string): Record<string, string> {
  return key === "" ? {} : { authorization: `Bearer ${key}` };
}

/** Returns the JSON of a successful answer; otherwise throws an error with the status. */
export async function getJson(http: HttpJson, url: string, headers: Headers): Promise<unknown> {
  const answer = await http({ method: "GET", url, headers });
  if (answer.status !== 200) throw new Error(refusalText(answer));
  if (answer.json === undefined) throw new Error("the upstream's answer is not JSON");
  return answer.json;
}

/** Returns the status with the provider's message; the caller masks secrets and addresses. */
export function refusalText({ status, json }: Awaited<ReturnType<HttpJson>>): string {
  const said = wordsIn(json);
  return `the upstream answered with status ${status}${said === undefined ? "" : `: ${said}`}`;
}

/** Returns the message of an error body: `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}` and the like. */
function wordsIn(json: unknown): string | undefined {
  if (!isObject(json)) return undefined;
  const { error, message, detail, msg } = json;
  if (isObject(error)) return wordsIn(error);
  return [error, message, detail, msg].find((one): one is string => typeof one === "string" && one !== "");
}

/** Members in which similar servers put the list, and members in which they put a model's name. */
const LISTS = ["data", "models", "result", "items"];
const NAMES = ["id", "name", "model", "model_id", "slug"];

/** Returns the names in a list of models; answers in other common shapes than the provider's own are read too. */
export function namesIn(json: unknown, list: string, name: string): string[] {
  const entries = listIn(json, [list, ...LISTS]);
  if (!entries) throw new Error(wordsIn(json) ?? "the upstream's answer holds no list of models");
  return entries.flatMap((entry) => {
    const id = isObject(entry) ? [name, ...NAMES].map((member) => entry[member]).find(isName) : entry;
    return isName(id) ? [id] : [];
  });
}

/** Returns the entries of a list in any common shape, with their names; none if there is no list. */
export function entriesIn(json: unknown): { readonly name: string; readonly entry: JsonObject }[] {
  return (listIn(json, LISTS) ?? []).flatMap((entry) => {
    const name = isObject(entry) ? NAMES.map((member) => entry[member]).find(isName) : undefined;
    return isObject(entry) && name !== undefined ? [{ name, entry }] : [];
  });
}

/** Finds a bare list, a list in a member, or a list inside a member's object, such as `{data: {models: []}}`. */
function listIn(json: unknown, members: readonly string[], isInner = false): readonly unknown[] | undefined {
  if (Array.isArray(json)) return json as readonly unknown[];
  if (!isObject(json)) return undefined;
  const found = members.map((member) => json[member]).find(Array.isArray);
  if (found || isInner) return found;
  for (const member of members) {
    const inner = listIn(json[member], members, true);
    if (inner) return inner;
  }
  return undefined;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
