const VERSION = /^v\d+(?:alpha|beta)?\d*$/;
/**
 * The base at which Google and others serve the OpenAI protocol: the paths that follow have no version of their own.
 */
const VERSIONED_OPENAI = /\/v\d+(?:alpha|beta)?\d*\/openai$/;
const CLOUDFLARE_GATEWAY = "gateway.ai.cloudflare.com";

/**
 * Joins a base URL and a path so that a version pasted with the base is not doubled: `…/v1` + `/v1/x` is `…/v1/x`,
 * `…/api/v3` + `/v1/x` is `…/api/v3/x`, `…/v1` + `/v2/x` is `…/v2/x`, `…/api/coding/v3` + `/api/v3/x` is
 * `…/api/coding/v3/x`. An absolute path replaces the base.
 * @param gatewayDrops start of the path that the host of the Cloudflare AI gateway already implies
 */
export function joinUrl(base: string, path: string, gatewayDrops = ""): URL {
  const name = `${base}\n${path}\n${gatewayDrops}`;
  const known = joined.get(name);
  if (known !== undefined) return new URL(known);
  const url = join(base, path, gatewayDrops);
  if (joined.size >= MAX_JOINED) joined.clear();
  joined.set(name, url.href);
  return url;
}

/**
 * Joined addresses are cached, because channels and routes are few and calls are many. Each call gets a URL object of
 * its own, which it may change.
 */
const joined = new Map<string, string>();
const MAX_JOINED = 1_024;

/** The ends of full endpoint addresses, which operators paste from examples in place of a base URL. */
const ENDPOINT =
  /(?:\/openai\/deployments\/[^/]+\/[\w/]+|\/chat\/completions|(?<=\/v\d+(?:alpha|beta)?\d*)\/(?:completions|responses|messages(?:\/count_tokens)?|embeddings|moderations|rerank|realtime|images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations)|models(?:\/[^/]+:\w+)?))\/*$/i;

/** Returns the base of a full endpoint address, without its query; other addresses stay as they are. */
export function withoutEndpoint(base: string): string {
  const path = base.replace(/[?#].*$/s, "");
  return ENDPOINT.test(path) ? path.replace(ENDPOINT, "") : base;
}

/** Returns a base URL without a pasted end that the vendor's paths already contain. */
export function withoutEnd(base: string, end: RegExp | undefined): string {
  return end === undefined ? base : base.replace(/\/+$/, "").replace(end, "");
}

function join(base: string, path: string, gatewayDrops: string): URL {
  if (/^(?:https?|wss?):\/\//.test(path)) return new URL(path);
  const root = new URL(base);
  const prefix = root.pathname.replace(/\/+$/, "");
  const [route, query] = cut(path, "?");
  const rest = root.hostname === CLOUDFLARE_GATEWAY ? withoutStart(route, gatewayDrops) : route;
  root.pathname = merge(prefix, rest);
  if (query !== undefined) root.search = query;
  return root;
}

function merge(prefix: string, path: string): string {
  const overlap = sharedVersionPath(prefix, path);
  if (overlap > 0) return prefix + path.slice(overlap);
  const last = prefix.slice(prefix.lastIndexOf("/") + 1);
  const first = path.slice(1).split("/", 1)[0] ?? "";
  if (first === "v1" && VERSIONED_OPENAI.test(prefix)) return prefix + path.slice(3);
  if (!VERSION.test(last) || !VERSION.test(first)) return prefix + path;
  if (first === "v1") return prefix + path.slice(3);
  return prefix.slice(0, prefix.length - last.length - 1) + path;
}

/**
 * Returns the length of the longest start of `path` that the prefix already contains, up to a version that both end
 * with. The prefix may have further segments in between: vendors sell plans at `…/api/coding/v3` next to `…/api/v3`.
 */
function sharedVersionPath(prefix: string, path: string): number {
  const walked = prefix.split("/");
  const segments = path.split("/");
  let length = 0;
  let longest = 0;
  for (const [index, segment] of segments.entries()) {
    if (index === 0) continue;
    length += segment.length + 1;
    const isEnd = VERSION.test(segment) && walked.at(-1) === segment;
    if (isEnd && holdsInOrder(walked, segments.slice(1, index))) longest = length;
  }
  return longest;
}

function holdsInOrder(walked: readonly string[], wanted: readonly string[]): boolean {
  let at = 0;
  for (const segment of wanted) {
    at = walked.indexOf(segment, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/**
 * Returns a path outside of the version that operators paste with the base: `…/v1` + `/user/balance` is
 * `…/user/balance` if the vendor serves it outside of `/v1`. If the base has none of these tails or is empty, the path
 * stays as it is.
 */
export function siblingPath(base: string, tails: readonly string[], path: string): string {
  const trimmed = base.replace(/\/+$/, "");
  const tail = tails.find((candidate) => trimmed.endsWith(candidate));
  return tail === undefined ? path : trimmed.slice(0, -tail.length) + path;
}

function withoutStart(path: string, start: string): string {
  return start !== "" && path.startsWith(`${start}/`) ? path.slice(start.length) : path;
}

function cut(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
