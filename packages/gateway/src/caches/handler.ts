import type { JsonObject } from "../dialects/core/types.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import { sendJson } from "../objects/object-call.ts";
import { readQuery, type RouteArrival } from "../relay/ingress/route-arrival.ts";
import { readCount, readPageToken, writePageToken } from "../objects/shapes/page-token.ts";
import { readSmallJson } from "../objects/small-json.ts";
import { readJson } from "../objects/upstream.ts";
import { deleteAtAccount, findCacheAccount, shownCacheError, unknownCache } from "./accounts.ts";
import { createCache } from "./create.ts";
import { closeCache, growDeposit } from "./deposits.ts";
import { readAnsweredEnd, readEnd } from "./lifetime.ts";
import { changeCache, findOwnCaches, listOwnCaches } from "./store.ts";
import type { CacheCall, CacheDeps, CacheRow } from "./types.ts";
import { readAnswer, viewCache } from "./view.ts";

/** Answers the routes of caches; throws AppError. */
export type CacheHandler = (arrival: RouteArrival) => Promise<void>;

const PATH = /\/cachedContents(?:\/([^/]+))?$/;

export function createCacheHandler(deps: CacheDeps): CacheHandler {
  return async ({ request, response, method, path, requestId, ip, startedAt }) => {
    const caller = await deps.authenticator.byKey(request, ip);
    const query = readQuery(request);
    const call: CacheCall = { request, response, query, requestId, caller, startedAt };
    try {
      await deps.calls.take(requestId, caller.userId);
      sendJson(response, await answer(PATH.exec(path)?.[1], { method, path, call }, deps));
    } catch (error) {
      throw AppError.of(error, caller);
    }
  };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly call: CacheCall;
}

async function answer(id: string | undefined, { method, path, call }: Asked, deps: CacheDeps): Promise<JsonObject> {
  const allowed = id === undefined ? ["GET", "POST"] : ["GET", "PATCH", "DELETE"];
  if (!allowed.includes(method)) {
    call.response.setHeader("allow", allowed.join(", "));
    throw new AppError("method_not_allowed", { values: { method, path: path.slice(0, 200) } });
  }
  if (id === undefined) return method === "POST" ? createCache(call, deps) : listCaches(call, deps);
  const row = await requireOwn(id, call, deps);
  if (method === "GET") return viewCache(row);
  return method === "PATCH" ? changeEnd(row, call, deps) : deleteCache(row, deps);
}

/** Throws the same error for an unknown id, an expired cache and another user's. */
async function requireOwn(id: string, { caller }: CacheCall, deps: CacheDeps): Promise<CacheRow> {
  const [row] = await findOwnCaches(deps, [id], deps.library.viewAs(caller), seconds(deps.clock));
  if (!row) throw unknownCache(id);
  return row;
}

const MAX_PAGE = 1_000;
const USUAL_PAGE = 50;

/** Lists from the table: an upstream's list would show the caches of other users too. */
async function listCaches({ query, caller }: CacheCall, deps: CacheDeps): Promise<JsonObject> {
  const limit = readCount(query.get("pageSize"), "pageSize", { max: MAX_PAGE, fallback: USUAL_PAGE });
  const token = query.get("pageToken") ?? "";
  const after = token === "" ? undefined : readPageToken(token, "pageToken");
  const found = await listOwnCaches(deps, deps.library.viewAs(caller), { limit, after }, seconds(deps.clock));
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    ...(rows.length > 0 && { cachedContents: rows.map(viewCache) }),
    ...(found.length > limit && last && { nextPageToken: writePageToken({ createdAt: last.created_at, id: last.id }) }),
  };
}

const UPDATE_MS = 60_000;

/** Changes when a cache ends. A longer life is paid before the upstream is asked; a shorter one returns nothing yet. */
async function changeEnd(row: CacheRow, { request, query, caller }: CacheCall, deps: CacheDeps): Promise<JsonObject> {
  const body = await readSmallJson(request);
  const now = seconds(deps.clock);
  const asked = readEnd(body, now);
  if (asked === undefined) throw invalidRequest("ttl", "Send ttl or expireTime: nothing else of a cache can change.");
  const account = findCacheAccount(row, deps);
  if (!account) throw unknownCache(row.id);
  const shrink = await growDeposit(row, { endsAt: asked, caller }, deps);
  try {
    const mask = query.get("updateMask") ?? query.get("update_mask");
    const response = await deps.call(account, {
      method: "PATCH",
      below: `/${encodeURIComponent(row.upstream_id)}`,
      ...(mask !== null && { query: { updateMask: mask } }),
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(body)),
      signal: AbortSignal.timeout(UPDATE_MS),
    });
    const answered = (await readJson(response)) as JsonObject;
    const ends_at = readAnsweredEnd(answered, now) ?? asked;
    const wire = JSON.stringify({ ...readWire(row), ...readAnswer(answered).wire });
    if (!(await changeCache(deps, row, { ends_at, wire }))) throw unknownCache(row.id);
    return viewCache({ ...row, wire });
  } catch (error) {
    await shrink();
    throw shownCacheError(error, row);
  }
}

function readWire({ wire }: CacheRow): JsonObject {
  return JSON.parse(wire) as JsonObject;
}

/** A cache that cannot be deleted upstream is stored on, and its storage is charged until it ends. */
async function deleteCache(row: CacheRow, deps: CacheDeps): Promise<JsonObject> {
  await deleteAtAccount(row, deps);
  await closeCache(row, seconds(deps.clock), deps);
  return {};
}
