import type { IncomingMessage, ServerResponse } from "node:http";
import { ClientGone, readJsonBody } from "../../http/body.ts";
import { requireContext } from "../../http/context.ts";
import type { Provider } from "../../identity/providers/provider.ts";
import type { ProviderStore } from "../../identity/providers/store.ts";
import { badRequest, ScimError } from "../../identity/scim/scim-error.ts";
import { hashRandomId } from "../../identity/sessions/sessions.ts";
import { countedAddress } from "../../lib/net/ip.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { BodyMemory } from "../../limits/body-memory.ts";
import type { Limiter, Rule } from "../../limits/limiter.ts";
import type { Logger } from "../../observability/log.ts";
import type { BindingDeps } from "../auth/bindings.ts";
import { serveScim, type ScimAnswer } from "./serve.ts";
import { decodePercent } from "../../lib/text/percent-encoding.ts";

export interface ScimDeps extends BindingDeps {
  readonly providers: ProviderStore;
  readonly limiter: Limiter;
  readonly memory: BodyMemory;
  readonly log: Logger;
  /** Address of this server as other machines reach it. */
  readonly publicAddress: () => string;
  readonly onAnswered: (op: string, result: "ok" | "refused" | "failed") => void;
}

export type ScimHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const PATH = /^\/scim\/v2\/([a-z][a-z0-9-]{1,31})((?:\/[^/?]*)*)$/;
const MEDIA_TYPE = "application/scim+json; charset=utf-8";
const MAX_BODY_BYTES = 1024 * 1024;
const CALLS: Rule = { name: "scim", limit: 1_200, windowMs: 60_000 };
/** Unknown tokens that an address may try in a minute. */
const GUESSES: Rule = { name: "scim-guesses", limit: 60, windowMs: 60_000 };
const WRITES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** Serves the directories of companies (RFC 7644). */
export function createScim(deps: ScimDeps): ScimHandler {
  return async (request, response) => {
    const method = request.method ?? "GET";
    const [path = "", search = ""] = readUrl(request).split("?", 2);
    const [, slug = "", rest = ""] = PATH.exec(path) ?? [];
    const [resource = "", ...more] = rest.split("/").filter(Boolean);
    const op = `${method.toLowerCase()} ${KNOWN.has(resource) ? resource : "unknown"}`;
    try {
      const provider = await authenticate(deps, request, slug);
      await take(deps, CALLS, slug);
      const base = `${deps.publicAddress()}/scim/v2/${slug}`;
      const body = WRITES.has(method) ? await readBody(deps, request) : {};
      const query = new URLSearchParams(search);
      const ifMatch = request.headers["if-match"];
      const id = more.map(decode).join("/");
      send(response, await serveScim(deps, { provider, method, resource, id, query, ifMatch, base, body }));
      deps.onAnswered(op, "ok");
    } catch (error) {
      fail(deps, { request, response, op }, error);
    }
  };
}

/** Express cuts off the part of the path that it has matched. */
function readUrl(request: IncomingMessage): string {
  return (request as { originalUrl?: string }).originalUrl ?? request.url ?? "/";
}

const KNOWN: ReadonlySet<string> = new Set(["Users", "Groups", "ServiceProviderConfig", "ResourceTypes", "Schemas"]);

function decode(segment: string): string {
  const decoded = decodePercent(segment);
  if (decoded === undefined) throw new ScimError(404, "There is no such resource.");
  return decoded;
}

/** An unknown provider and an unknown token get the same answer. */
async function authenticate(
  { providers, limiter }: ScimDeps,
  request: IncomingMessage,
  slug: string,
): Promise<Provider> {
  const token = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const provider = slug === "" || token === "" ? undefined : await providers.findBySlug(slug);
  const hash = hashRandomId(token);
  if (provider?.isEnabled && provider.scimTokens.some((one) => one.hash === hash)) return provider;
  await take({ limiter }, GUESSES, countedAddress(requireContext(request).ip));
  throw new ScimError(401, "The token is missing, wrong or no longer valid.");
}

async function take({ limiter }: Pick<ScimDeps, "limiter">, rule: Rule, subject: string): Promise<void> {
  const queue = await limiter.take(rule, subject);
  if (queue.admitted) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(queue.resetMs / 1000));
  throw new ScimError(429, "There were too many requests.", { retryAfterSeconds });
}

async function readBody({ memory }: ScimDeps, request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/scim+json" && type !== "application/json")
    throw new ScimError(415, "The body must be application/scim+json.");
  try {
    const value = await readJsonBody(request, { bytes: MAX_BODY_BYTES, memory, takesList: false });
    return value as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.key === "body_too_large") throw new ScimError(413, "The body has more than 1 MiB.");
    throw badRequest("invalidSyntax", "The body must be a JSON object.");
  }
}

function send(response: ServerResponse, { status, body, location, version }: ScimAnswer): void {
  response.setHeader("Cache-Control", "no-store");
  if (location !== undefined) response.setHeader("Location", location);
  if (version !== undefined) response.setHeader("ETag", version);
  if (body === undefined) return void response.writeHead(status).end();
  response.setHeader("Content-Type", MEDIA_TYPE);
  response.writeHead(status).end(JSON.stringify(body));
}

interface Failed {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly op: string;
}

function fail({ log, onAnswered }: ScimDeps, { request, response, op }: Failed, thrown: unknown): void {
  if (thrown instanceof ClientGone || response.headersSent) return void response.destroy();
  const isKnown = thrown instanceof ScimError;
  if (!isKnown)
    log.error("a call of a directory failed", { request_id: requireContext(request).requestId, error: thrown });
  const error = isKnown ? thrown : new ScimError(500, "The call failed; its request id is in the log.");
  if (error.status === 401) response.setHeader("WWW-Authenticate", "Bearer");
  if (error.retryAfterSeconds !== undefined) response.setHeader("Retry-After", String(error.retryAfterSeconds));
  // What was not read would be taken for the next request.
  if (!request.complete) response.setHeader("Connection", "close");
  send(response, { status: error.status, body: error.toBody() });
  onAnswered(op, isKnown ? "refused" : "failed");
}
