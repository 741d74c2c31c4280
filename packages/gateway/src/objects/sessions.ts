import { Readable } from "node:stream";
import { number, object as readObject, text } from "../dialects/core/read.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import type { UpstreamAnswer } from "../providers/core/types.ts";
import { uploadSession } from "../storage/secrets/sealed-locations.ts";
import { requireAccount, type OpenAccount } from "./account.ts";
import { createArrivingObject } from "./arriving-object.ts";
import { chooseAccounts } from "./choose-account.ts";
import { createObjectId } from "./ids.ts";
import { shownError, unknownFile } from "./library.ts";
import { findPublicUrl, IDLE_MS, sendJson, type ObjectCall, type ObjectDeps } from "./object-call.ts";
import { requireQuota } from "./quota.ts";
import { readChunks } from "./read-chunks.ts";
import { finishUpload } from "./send-upload.ts";
import { geminiFiles, readDisplayName } from "./shapes/gemini.ts";
import { readSmallJson } from "./small-json.ts";
import type { StoredObject } from "./stored-object.ts";
import { readModel } from "./upload-form.ts";
import { readJson } from "./upstream.ts";

/** A call of a session that has begun; the client may send no key. */
export type SessionCall = Pick<ObjectCall, "request" | "response" | "path" | "signal">;

const LIFE_SECONDS = 7 * 86_400;
const HEADER = "x-goog-upload-";

/**
 * Begins an upload in pieces. The upstream's address of the session is stored sealed, and the client gets one of this
 * gateway, at which any replica continues.
 */
export async function beginSession(call: ObjectCall, deps: ObjectDeps): Promise<void> {
  const { response, caller, path } = call;
  if (readHeader(call, "protocol") !== "resumable" || readHeader(call, "command") !== "start")
    throw invalidRequest(
      `${HEADER}protocol`,
      "Send a multipart upload, or a resumable one, whose first call has the command start.",
    );
  const baseUrl = findPublicUrl(call, deps);
  if (baseUrl === undefined) throw new AppError("public_url_not_set");
  const quota = requireQuota(caller, deps.snapshots.current().options);
  const announced = readLength(call, deps);
  const file = await readMetadata(call);
  const [account] = chooseAccounts(
    { caller, dialect: "gemini", model: readModel(call) },
    deps.snapshots.current(),
    deps.selection,
  );
  if (!account) throw new AppError("unsupported_by_channel");
  const session = buildSession(call, { account, announced, file }, deps);
  await deps.store.create(session, quota);
  try {
    const address = await openUpstream(call, account, { announced, file }, deps);
    const sealed = deps.vault.seal(address, uploadSession(session.id));
    await deps.store.change(session, { facts: { ...session.facts, session: sealed } });
  } catch (error) {
    await deps.store.remove(session);
    throw shownError(error, session);
  }
  response.setHeader(
    `${HEADER}url`,
    `${baseUrl}${path}?${new URLSearchParams({ upload_id: session.id, upload_protocol: "resumable" }).toString()}`,
  );
  response.setHeader(`${HEADER}status`, "active");
  response.writeHead(200, { "content-length": 0 });
  response.end();
}

function readHeader({ request }: Pick<ObjectCall, "request">, name: string): string | undefined {
  const value = request.headers[HEADER + name];
  return typeof value === "string" ? value.trim().toLowerCase() : undefined;
}

/** Returns the announced size; undefined if the client does not know it yet. */
function readLength(call: ObjectCall, { maxFileBytes }: ObjectDeps): number | undefined {
  const header = readHeader(call, "header-content-length");
  if (header === undefined) return undefined;
  if (!/^\d{1,15}$/.test(header)) throw invalidRequest(`${HEADER}header-content-length`, "The length is no number.");
  const length = Number(header);
  if (length > maxFileBytes) throw new AppError("request_too_large", { values: { limit: maxFileBytes } });
  return length;
}

/** Reads what the client says about the file; a name that it chose is left out, because ids are the gateway's. */
async function readMetadata({ request }: ObjectCall): Promise<JsonObject> {
  const { name: _name, ...file } = readObject(await readSmallJson(request), "file") ?? {};
  return file;
}

interface Beginning {
  readonly announced: number | undefined;
  readonly file: JsonObject;
}

function buildSession(
  call: ObjectCall,
  { account, announced, file }: Beginning & { readonly account: OpenAccount },
  deps: ObjectDeps,
): StoredObject {
  const header = call.request.headers[`${HEADER}header-content-type`];
  const session = {
    kind: "upload",
    dialect: "gemini",
    name: readDisplayName(file),
    mime: text(file, "mimeType") ?? text(file, "mime_type") ?? (typeof header === "string" ? header : ""),
    purpose: "",
    bytes: announced ?? 0,
    lifeSeconds: LIFE_SECONDS,
  } as const;
  return createArrivingObject(call, session, account, deps);
}

/** Opens the session upstream and returns its path and query. */
async function openUpstream(
  { request, signal }: ObjectCall,
  account: OpenAccount,
  { announced, file }: Beginning,
  { call }: ObjectDeps,
): Promise<string> {
  const type = request.headers[`${HEADER}header-content-type`];
  const answer = await call(account, {
    method: "POST",
    isUpload: true,
    headers: {
      "content-type": "application/json",
      [`${HEADER}protocol`]: "resumable",
      [`${HEADER}command`]: "start",
      ...(announced !== undefined && { [`${HEADER}header-content-length`]: String(announced) }),
      ...(typeof type === "string" && { [`${HEADER}header-content-type`]: type }),
    },
    body: Buffer.from(JSON.stringify({ file })),
    signal,
  });
  const address = answer.headers[`${HEADER}url`];
  await drain(answer);
  const url = address === undefined ? null : URL.parse(address);
  if (!url) throw new AppError("upstream_invalid_response");
  return url.pathname + url.search;
}

/** Continues a session: sends a piece on, asks how much has arrived, ends it with a file, or gives it up. */
export async function continueSession(call: SessionCall, session: StoredObject, deps: ObjectDeps): Promise<void> {
  const done = readObject(session.facts, "done");
  if (done) return answerDone(call, session, text(done, "id") ?? "", deps);
  const { request } = call;
  const command = readHeader(call, "command") ?? "";
  const account = requireAccount(deps.snapshots.current().channels, session, deps.hashKey);
  const isPiece = /\bupload\b/.test(command);
  const place = isPiece ? deps.room.enter() : undefined;
  try {
    const length = isPiece ? checkPiece(call, session, deps) : 0;
    const answer = await deps.call(account, {
      method: "POST",
      named: deps.vault.open(text(session.facts, "session") ?? "", uploadSession(session.id)),
      headers: {
        [`${HEADER}command`]: command,
        ...copyOffset(call),
        "content-type": "application/octet-stream",
        "content-length": String(length),
      },
      ...(length > 0 && { body: Readable.from(readChunks(request, IDLE_MS), { objectMode: false }) }),
      signal: call.signal,
    });
    await answerPiece(call, session, answer, deps);
    if (/\bcancel\b/.test(command)) await deps.store.remove(session);
  } catch (error) {
    throw shownError(error, session);
  } finally {
    await place?.leave();
  }
}

/** Returns the length of a piece; throws if it goes beyond what the session announced. */
function checkPiece(call: SessionCall, session: StoredObject, { maxFileBytes }: ObjectDeps): number {
  const header = call.request.headers["content-length"];
  if (header === undefined) throw invalidRequest("content-length", "A piece of an upload needs a Content-Length.");
  const length = Number(header);
  const offset = Number(readHeader(call, "offset") ?? Number.NaN);
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw invalidRequest(`${HEADER}offset`, "A piece of an upload needs the offset at which it begins.");
  const limit = session.bytes > 0 ? session.bytes : maxFileBytes;
  if (offset + length > limit) throw new AppError("request_too_large", { values: { limit } });
  return length;
}

function copyOffset(call: SessionCall): Record<string, string> {
  const offset = readHeader(call, "offset");
  return offset === undefined ? {} : { [`${HEADER}offset`]: offset };
}

const FORWARDED = [`${HEADER}status`, `${HEADER}size-received`, `${HEADER}chunk-granularity`];

async function answerPiece(
  call: SessionCall,
  session: StoredObject,
  answer: UpstreamAnswer,
  deps: ObjectDeps,
): Promise<void> {
  const { response } = call;
  for (const name of FORWARDED) {
    const value = answer.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  if (answer.headers[`${HEADER}status`] !== "final") {
    await drain(answer);
    response.writeHead(200, { "content-length": 0 });
    response.end();
    return;
  }
  const file = await finishSession(session, (await readJson(answer)) as JsonObject, deps);
  sendFile(call, file, deps);
}

/** Writes the row of the file, then notes it in the session, so that a repeated last call answers the same file. */
async function finishSession(session: StoredObject, answer: JsonObject, deps: ObjectDeps): Promise<StoredObject> {
  const named = readObject(answer, "file") ?? answer;
  const bytes = number(named, "sizeBytes") ?? Number(text(named, "sizeBytes") ?? session.bytes);
  const made: StoredObject = {
    ...session,
    id: createObjectId("gemini", "file", deps.clock.now()),
    kind: "file",
    facts: {},
    createdAt: seconds(deps.clock),
  };
  const ready = finishUpload(made, geminiFiles, { answer, bytes: Number.isSafeInteger(bytes) ? bytes : session.bytes });
  await deps.store.create(ready);
  await deps.store.change(session, { bytes: 0, facts: { done: { id: ready.id } } });
  deps.uploaded({ dialect: "gemini", way: "stream", bytes: ready.bytes });
  return ready;
}

async function answerDone(call: SessionCall, session: StoredObject, id: string, deps: ObjectDeps): Promise<void> {
  const file = await deps.store.find(id, { userId: session.userId });
  if (!file) throw unknownFile(id);
  call.response.setHeader(`${HEADER}status`, "final");
  sendFile(call, file, deps);
}

function sendFile(call: SessionCall, file: StoredObject, deps: ObjectDeps): void {
  sendJson(call.response, { file: geminiFiles.showFile(file, findPublicUrl(call, deps)) });
}

async function drain({ body }: UpstreamAnswer): Promise<void> {
  for await (const _ of body);
}
