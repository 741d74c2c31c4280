import { isObject } from "../../lib/text/json.ts";
import { joinUrl, withoutEnd } from "./join-url.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter } from "./types.ts";

type ListModels = NonNullable<ProviderAdapter["listModels"]>;
type Headers = Readonly<Record<string, string>>;

/** `GET {base}{path}` that answers `{data: [{id}]}`, a bare list, or objects with another member for the name. */
export function listOpenAiModels(path: string, options: ListOptions = {}): ListModels {
  return async (channel, key, http) => {
    const base = withoutEnd(channel.baseUrl, options.pastedEnd) || options.base;
    // The default of another vendor would get the key.
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

/** The JSON of a successful answer; throws with the status otherwise. */
export async function getJson(http: HttpJson, url: string, headers: Headers): Promise<unknown> {
  const answer = await http({ method: "GET", url, headers });
  if (answer.status !== 200) throw new Error(`the upstream answered with status ${answer.status}`);
  if (answer.json === undefined) throw new Error("the upstream's answer is not JSON");
  return answer.json;
}

export function namesIn(json: unknown, list: string, name: string): string[] {
  const entries: unknown = isObject(json) ? json[list] : json;
  if (!Array.isArray(entries)) throw new Error("the upstream's answer holds no list of models");
  return entries.flatMap((entry: unknown) => {
    const id = isObject(entry) ? entry[name] : entry;
    return typeof id === "string" && id !== "" ? [id] : [];
  });
}
