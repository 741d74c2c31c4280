import { pipeline } from "node:stream/promises";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { object as readObject, number, text } from "../dialects/core/read.ts";
import { findAccount, requireAccount } from "./account.ts";
import { buildLateDeletion } from "./late-deletion.ts";
import { deleteAt, isMissing, shownError, unknownFile } from "./library.ts";
import { findPublicUrl, sendJson, type ObjectCall, type ObjectDeps } from "./object-call.ts";
import type { FileShape, ListQuery } from "./shapes/shape.ts";
import type { StoredObject } from "./stored-object.ts";
import type { Page } from "./store.ts";
import { readJson } from "./upstream.ts";

/** Lists what the caller may see, from the table: an upstream's list would show the files of other users too. */
export async function listFiles(call: ObjectCall, shape: FileShape, deps: ObjectDeps): Promise<void> {
  const query = shape.readList(call.query);
  const page = query.ids ? await pickFiles(query.ids, call, shape, deps) : await readPage(query, call, shape, deps);
  const objects = page.objects.map((object) => markLost(object, deps));
  sendJson(call.response, shape.showList({ ...page, objects }, findPublicUrl(call, deps)));
}

async function pickFiles(
  ids: readonly string[],
  { caller }: ObjectCall,
  { dialect }: FileShape,
  { store, library }: ObjectDeps,
): Promise<Page> {
  const found = await store.findAll(ids, library.viewAs(caller));
  const objects = ids.flatMap((id) => found.get(id) ?? []);
  return { objects: objects.filter((one) => one.dialect === dialect && one.state !== "expired"), hasMore: false };
}

async function readPage(
  { afterId, isReversed = false, ...query }: ListQuery,
  { caller }: ObjectCall,
  { dialect }: FileShape,
  { store, library }: ObjectDeps,
): Promise<Page> {
  const viewer = library.viewAs(caller);
  const start = afterId === undefined ? undefined : await store.find(afterId, viewer);
  if (afterId !== undefined && !start)
    throw invalidRequest("after", "The list begins after an id that does not exist.");
  const page = await store.list(viewer, { ...query, kind: "file", dialect, after: query.after ?? start });
  return isReversed ? { ...page, objects: page.objects.toReversed() } : page;
}

/** Clients learn that a file is lost, and may delete it. */
function markLost(object: StoredObject, { snapshots, hashKey }: ObjectDeps): StoredObject {
  const isThere = object.state !== "ready" || findAccount(snapshots.current().channels, object, hashKey) !== undefined;
  return isThere ? object : { ...object, state: "lost" };
}

/** Finds a file of the protocol of the call. */
async function requireFile(
  id: string,
  { caller, dialect }: ObjectCall,
  { library }: ObjectDeps,
): Promise<StoredObject> {
  const object = await library.find(id, library.viewAs(caller));
  if (object.dialect !== dialect || object.kind !== "file") throw unknownFile(id);
  return object;
}

export async function showFile(id: string, call: ObjectCall, shape: FileShape, deps: ObjectDeps): Promise<void> {
  const object = await requireFile(id, call, deps);
  if (object.state === "failed") throw unknownFile(id);
  const fresh = await refresh(object, call, shape, deps);
  sendJson(call.response, shape.showFile(fresh, findPublicUrl(call, deps)));
}

const REFRESH_SECONDS = 2;

/** Asks the upstream again about a file that it still works on. */
async function refresh(
  object: StoredObject,
  { signal }: ObjectCall,
  shape: FileShape,
  deps: ObjectDeps,
): Promise<StoredObject> {
  const account = requireAccount(deps.snapshots.current().channels, object, deps.hashKey);
  const { unsettledStates = [] } = account.service;
  const known = readObject(object.facts, "file");
  const state = (text(known, "state") ?? text(known, "status") ?? "").toLowerCase();
  const now = seconds(deps.clock);
  const isFresh = now - (number(object.facts, "checkedAt") ?? 0) < REFRESH_SECONDS;
  if (!unsettledStates.includes(state) || isFresh) return object;
  try {
    const request = { method: "GET", below: `/${encodeURIComponent(object.upstreamId)}`, signal } as const;
    const read = shape.readUpload((await readJson(await deps.call(account, request))) as JsonObject);
    const facts = { ...object.facts, ...read.facts, checkedAt: now };
    await deps.store.change(object, { facts });
    return { ...object, facts };
  } catch (error) {
    if (isMissing(error)) await deps.store.change(object, { state: "failed" });
    throw shownError(error, object);
  }
}

export async function deleteFile(id: string, call: ObjectCall, shape: FileShape, deps: ObjectDeps): Promise<void> {
  const object = await requireFile(id, call, deps);
  await deleteObject(object, call.signal, deps);
  sendJson(call.response, shape.showDeleted(object));
}

/**
 * Deletes a file where it is stored, then its row; a file that no longer exists upstream, or is lost, is only a row.
 * Results of a batch that is not settled are deleted upstream after the settlement.
 */
export async function deleteObject(
  object: StoredObject,
  signal: AbortSignal,
  { snapshots, hashKey, call, store, clock }: Pick<ObjectDeps, "snapshots" | "hashKey" | "call" | "store" | "clock">,
): Promise<void> {
  if (await store.holdsResults(object)) {
    if (!(await store.change(object, buildLateDeletion(seconds(clock))))) throw unknownFile(object.id);
    return;
  }
  const account = findAccount(snapshots.current().channels, object, hashKey);
  if (account && object.upstreamId !== "" && object.state !== "failed")
    try {
      await deleteAt(account, object, { call, signal });
    } catch (error) {
      if (!isMissing(error)) throw shownError(error, object);
    }
  if (!(await store.remove(object))) throw unknownFile(object.id);
}

/** Headers of a download that mean the same to the client. */
const FORWARDED = ["content-type", "content-length", "content-range", "accept-ranges"] as const;

export async function sendContent(id: string, call: ObjectCall, deps: ObjectDeps): Promise<void> {
  const { response, request, signal } = call;
  const object = await requireFile(id, call, deps);
  if (object.state === "failed") throw unknownFile(id);
  const { range } = request.headers;
  const answer = await deps.library.openContent(object, { signal, range });
  for (const name of FORWARDED) {
    const value = answer.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  // A page of the gateway's own address must never run what a user has uploaded.
  response.setHeader("content-disposition", describeAttachment(object.name));
  response.setHeader("x-content-type-options", "nosniff");
  response.writeHead(answer.status === 206 ? 206 : 200);
  await pipeline(answer.body, response).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : new AppError("upstream_stream_interrupted", { cause });
  });
}

/** Returns the header by which browsers save a file under its name, whatever letters that name has. */
export function describeAttachment(name: string): string {
  if (name === "") return "attachment";
  const plain = name.replace(/[^\w .()+-]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
