import { number, object as readObject, text } from "../dialects/core/read.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import { requireAccount, type OpenAccount } from "./account.ts";
import { createArrivingObject } from "./arriving-object.ts";
import { chooseAccounts } from "./choose-account.ts";
import { createObjectId } from "./ids.ts";
import { shownError } from "./library.ts";
import { sendJson, type ObjectCall, type ObjectDeps } from "./object-call.ts";
import { requireQuota } from "./quota.ts";
import { finishUpload } from "./send-upload.ts";
import { openaiFiles } from "./shapes/openai.ts";
import { keepMembers } from "./shapes/shape.ts";
import { readSmallJson } from "./small-json.ts";
import type { StoredObject } from "./stored-object.ts";
import { readModel } from "./upload-form.ts";
import { sendPart } from "./upload-parts.ts";
import { ObjectFailure, readJson } from "./upstream.ts";

const PATH = /^\/v1\/uploads(?:\/([^/]+)\/(parts|complete|cancel))?$/;
/** An upload lives this long at its vendor, unless its answer says otherwise. */
const LIFE_SECONDS = 3_600;
const MAX_ATTEMPTS = 3;
const MAX_PART_IDS = 1_000;

/** True for the paths of uploads in parts. */
export function isUploadPath(path: string): boolean {
  return PATH.test(path);
}

/**
 * Uploads of OpenAI's protocol: a file arrives in parts, each by a call of its own, which any replica takes. The vendor
 * stores the parts; a row for each remembers its name there.
 */
export async function serveUpload(call: ObjectCall, deps: ObjectDeps): Promise<void> {
  const { method, path, response } = call;
  if (method !== "POST") {
    response.setHeader("allow", "POST");
    throw new AppError("method_not_allowed", { values: { method, path: path.slice(0, 200) } });
  }
  const [, id, action] = PATH.exec(path) ?? [];
  if (id === undefined) return beginUpload(call, deps);
  const upload = await requireUpload(id, call, deps);
  const account = requireAccount(deps.snapshots.current().channels, upload, deps.hashKey);
  if (action === "complete") return completeUpload(call, { upload, account }, deps);
  if (readDone(upload) !== undefined) throw invalidRequest("id", `The upload ${id} is complete.`);
  return action === "parts" ? sendPart(call, { upload, account }, deps) : cancelUpload(call, { upload, account }, deps);
}

async function requireUpload(
  id: string,
  { caller }: ObjectCall,
  { library, store, clock }: ObjectDeps,
): Promise<StoredObject> {
  const found = await store.find(id, library.viewAs(caller));
  const isOpen = found?.kind === "upload" && found.state === "ready" && found.expiresAt > seconds(clock);
  if (isOpen && found.dialect === "openai") return found;
  throw new AppError("object_not_found", { values: { kind: "upload", id: id.slice(0, 100) } });
}

interface OpenUpload {
  readonly upload: StoredObject;
  readonly account: OpenAccount;
}

async function beginUpload(call: ObjectCall, deps: ObjectDeps): Promise<void> {
  const quota = requireQuota(call.caller, deps.snapshots.current().options);
  const asked = await readSmallJson(call.request);
  checkAsked(asked, deps);
  const accounts = chooseAccounts(
    { caller: call.caller, dialect: "openai", model: readModel(call) },
    deps.snapshots.current(),
    deps.selection,
  ).filter(({ service }) => service.partsPath !== undefined);
  let failure: unknown = new AppError("unsupported_by_channel", {
    message: "No channel takes files in parts: send the whole file to /v1/files.",
  });
  for (const account of accounts.slice(0, MAX_ATTEMPTS)) {
    const upload = buildUpload(call, { asked, account }, deps);
    await deps.store.create(upload, quota);
    try {
      return sendJson(call.response, showUpload(await openUpstream(call, { asked, upload, account }, deps), "pending"));
    } catch (error) {
      await deps.store.remove(upload);
      failure = shownError(error, upload);
      if (!(error instanceof ObjectFailure) || !error.failure.retry || call.signal.aborted) throw failure;
    }
  }
  throw failure;
}

/** Throws if what is announced is no file, or a file that is too large. */
function checkAsked(asked: JsonObject, { maxFileBytes }: ObjectDeps): void {
  for (const name of ["filename", "purpose", "mime_type"] as const)
    if ((text(asked, name) ?? "") === "") throw invalidRequest(name, `${name} must be a text.`);
  const bytes = number(asked, "bytes");
  if (bytes === undefined || !Number.isSafeInteger(bytes) || bytes < 1)
    throw invalidRequest("bytes", "bytes must be the size of the file.");
  if (bytes > maxFileBytes)
    throw new AppError("request_too_large", { param: "bytes", values: { limit: maxFileBytes } });
}

interface Beginning {
  readonly asked: JsonObject;
  readonly account: OpenAccount;
}

function buildUpload(call: ObjectCall, { asked, account }: Beginning, deps: ObjectDeps): StoredObject {
  const announced = {
    kind: "upload",
    dialect: "openai",
    name: text(asked, "filename") ?? "",
    mime: text(asked, "mime_type") ?? "",
    purpose: text(asked, "purpose") ?? "",
    bytes: number(asked, "bytes") ?? 0,
    lifeSeconds: LIFE_SECONDS,
  } as const;
  return createArrivingObject(call, announced, account, deps);
}

async function openUpstream(
  { signal }: ObjectCall,
  { asked, upload, account }: Beginning & OpenUpload,
  { call, store }: ObjectDeps,
): Promise<StoredObject> {
  const answer = (await readJson(await call(account, { ...post("", asked), signal }))) as JsonObject;
  const upstreamId = text(answer, "id");
  if (upstreamId === undefined || upstreamId === "") throw new AppError("upstream_invalid_response");
  const expiresAt = number(answer, "expires_at") ?? upload.expiresAt;
  const opened: StoredObject = {
    ...upload,
    upstreamId,
    state: "ready",
    facts: { upload: keepMembers(answer, ["id", "file"]) },
    expiresAt,
    nextCheckAt: expiresAt,
  };
  await store.change(upload, opened);
  return opened;
}

function post(below: string, body: JsonObject) {
  const headers = { "content-type": "application/json" };
  return { method: "POST", isParts: true, below, headers, body: Buffer.from(JSON.stringify(body)) } as const;
}

/** Joins the parts to a file; a repeated call gets the same file. */
async function completeUpload(call: ObjectCall, { upload, account }: OpenUpload, deps: ObjectDeps): Promise<void> {
  const done = readDone(upload);
  const made = done === undefined ? undefined : await deps.store.find(done, { userId: upload.userId });
  if (made) return sendJson(call.response, showUpload(upload, "completed", made));
  const { part_ids: named, ...rest } = await readSmallJson(call.request);
  const ids = await findUpstreamIds(named, upload, deps);
  const request = { ...post(`/${encodeURIComponent(upload.upstreamId)}/complete`, { ...rest, part_ids: ids }) };
  try {
    const answer = (await readJson(await deps.call(account, { ...request, signal: call.signal }))) as JsonObject;
    const file = await makeFile(upload, answer, deps);
    sendJson(call.response, showUpload(upload, "completed", file));
  } catch (error) {
    throw shownError(error, upload);
  }
}

function readDone({ facts }: StoredObject): string | undefined {
  return text(readObject(facts, "done"), "id");
}

/** Returns the vendor's ids of the parts, in the client's order. */
async function findUpstreamIds(named: unknown, upload: StoredObject, { store }: ObjectDeps): Promise<string[]> {
  if (!Array.isArray(named) || named.length === 0 || named.length > MAX_PART_IDS)
    throw invalidRequest("part_ids", `part_ids must be a list of 1 to ${MAX_PART_IDS} ids of parts.`);
  const ids = (named as readonly unknown[]).map((id) => (typeof id === "string" ? id : ""));
  const found = await store.findAll(ids, { userId: upload.userId });
  return ids.map((id) => {
    const part = found.get(id);
    if (part?.kind === "part" && part.name === upload.id) return part.upstreamId;
    throw new AppError("object_not_found", { param: "part_ids", values: { kind: "part", id: id.slice(0, 100) } });
  });
}

/** Writes the row of the file, and notes it in the upload, whose room it takes over. */
async function makeFile(upload: StoredObject, answer: JsonObject, deps: ObjectDeps): Promise<StoredObject> {
  const file: StoredObject = {
    ...upload,
    id: createObjectId("openai", "file", deps.clock.now()),
    kind: "file",
    facts: {},
    createdAt: seconds(deps.clock),
  };
  const ready = finishUpload(file, openaiFiles, { answer: readObject(answer, "file") ?? {}, bytes: upload.bytes });
  await deps.store.create(ready);
  await deps.store.change(upload, { bytes: 0, facts: { ...upload.facts, done: { id: ready.id } } });
  await deps.store.removeParts(upload);
  return ready;
}

async function cancelUpload(call: ObjectCall, { upload, account }: OpenUpload, deps: ObjectDeps): Promise<void> {
  try {
    const below = `/${encodeURIComponent(upload.upstreamId)}/cancel`;
    await readJson(await deps.call(account, { ...post(below, {}), signal: call.signal }));
  } catch (error) {
    throw shownError(error, upload);
  }
  await deps.store.removeParts(upload);
  await deps.store.remove(upload);
  sendJson(call.response, showUpload(upload, "cancelled"));
}

/** The upload as its client sees it. */
function showUpload(upload: StoredObject, status: string, file?: StoredObject): JsonObject {
  const known = readObject(upload.facts, "upload") ?? {};
  return {
    ...known,
    id: upload.id,
    object: "upload",
    bytes: number(known, "bytes") ?? upload.bytes,
    created_at: number(known, "created_at") ?? upload.createdAt,
    expires_at: upload.expiresAt,
    filename: upload.name,
    purpose: upload.purpose,
    status,
    file: file ? openaiFiles.showFile(file) : null,
  };
}
