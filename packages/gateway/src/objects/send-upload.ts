import { AppError } from "../lib/app-error.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import type { OpenAccount } from "./account.ts";
import { createArrivingObject } from "./arriving-object.ts";
import { holdsRequests, type PreparedFile } from "./file-content.ts";

import { shownError } from "./library.ts";
import type { ObjectCall, ObjectDeps } from "./object-call.ts";
import type { ReceivedForm, SentForm } from "./received-form.ts";
import type { FileShape } from "./shapes/shape.ts";
import type { StoredObject } from "./stored-object.ts";
import { ObjectFailure, readJson } from "./upstream.ts";
import type { Quota } from "./usage.ts";

/** A form whose file goes to an upstream. */
export interface Upload {
  readonly form: ReceivedForm;
  readonly shape: FileShape;
  readonly quota: Quota;
  readonly purpose: string;
  /** The file is sent while it arrives, so it can be sent only once. */
  readonly isStreamed: boolean;
  /** Returns the accounts that may take it, best first. */
  readonly choose: (deps: ObjectDeps) => Promise<readonly OpenAccount[]>;
}

const MAX_ATTEMPTS = 3;

/** Stores the file with the first account that takes it; a spooled one may go to another after a failure. */
export async function sendUpload(call: ObjectCall, upload: Upload, deps: ObjectDeps): Promise<StoredObject> {
  const accounts = (await upload.choose(deps)).slice(0, upload.isStreamed ? 1 : MAX_ATTEMPTS);
  let failure: unknown = new AppError("unsupported_by_channel");
  for (const account of accounts) {
    const { fileName, prepared } = await prepareFile(call, upload, { account, deps });
    const object = buildObject(call, upload, { account, deps, prepared, fileName });
    await deps.store.create(object, upload.quota);
    try {
      return await sendTo(account, { object, prepared, call, upload }, deps);
    } catch (error) {
      await deps.store.remove(object);
      failure = shownError(error, object);
      if (!(error instanceof ObjectFailure) || !error.failure.retry || call.signal.aborted) throw failure;
    }
  }
  throw failure;
}

interface Preparing {
  readonly account: OpenAccount;
  readonly deps: ObjectDeps;
}

/** Files of requests are read whole before anything is sent, because one bad line refuses all of it. */
async function prepareFile(
  { caller }: ObjectCall,
  { form, purpose }: Upload,
  { account, deps }: Preparing,
): Promise<{ readonly fileName: string; readonly prepared: PreparedFile | undefined }> {
  const fileName = form.file?.filename ?? "";
  if (!holdsRequests(purpose)) return { fileName, prepared: undefined };
  return { fileName, prepared: await deps.prepare({ content: form.openFile(), purpose, caller, account }) };
}

interface Building extends Preparing {
  readonly prepared: PreparedFile | undefined;
  readonly fileName: string;
}

function buildObject(call: ObjectCall, upload: Upload, building: Building): StoredObject {
  const { form, shape, purpose, isStreamed } = upload;
  const { account, deps, prepared, fileName } = building;
  const announced = isStreamed ? (form.announced ?? 0) : form.openFile().size;
  const file = {
    kind: "file",
    dialect: shape.dialect,
    name: fileName,
    mime: form.file?.type ?? "",
    purpose,
    bytes: prepared?.content.size ?? announced,
    facts: prepared?.facts,
  } as const;
  return createArrivingObject(call, file, account, deps);
}

interface Sending {
  readonly object: StoredObject;
  readonly prepared: PreparedFile | undefined;
  readonly call: ObjectCall;
  readonly upload: Upload;
}

async function sendTo(
  account: OpenAccount,
  { object, prepared, call, upload }: Sending,
  deps: ObjectDeps,
): Promise<StoredObject> {
  const { form, shape, isStreamed } = upload;
  const broken = new AbortController();
  const { service } = account;
  const sent: SentForm = isStreamed
    ? form.sendOn(form.announced ?? 0, (error) => broken.abort(AppError.from(error)))
    : service.writeFields
      ? form.sendWith(service.writeFields(object), prepared?.content)
      : form.sendWhole(prepared?.content);
  const answer = await deps.call(account, {
    method: "POST",
    isUpload: true,
    headers: { "content-type": sent.contentType, "content-length": String(sent.size) },
    clientHeaders: listProtocolHeaders(call),
    body: sent.body,
    signal: AbortSignal.any([call.signal, broken.signal]),
  });
  const bytes = prepared?.content.size ?? readSize(form);
  const ready = finishUpload(object, shape, { answer: (await readJson(answer)) as JsonObject, bytes });
  await deps.store.change(object, ready);
  deps.uploaded({ dialect: shape.dialect, way: isStreamed ? "stream" : "spool", bytes });
  return ready;
}

function readSize({ file }: ReceivedForm): number {
  return file?.end === undefined ? 0 : file.end - file.start;
}

/** Returns the row of a file that the upstream has. */
export function finishUpload(
  object: StoredObject,
  shape: FileShape,
  { answer, bytes }: { readonly answer: JsonObject; readonly bytes: number },
): StoredObject {
  const { upstreamId, name, mime, expiresAt, facts } = shape.readUpload(answer);
  return {
    ...object,
    upstreamId,
    name: name ?? object.name,
    mime: mime ?? object.mime,
    bytes,
    state: "ready",
    facts: { ...object.facts, ...facts },
    expiresAt,
    nextCheckAt: expiresAt,
  };
}

const PROTOCOL_HEADERS = ["anthropic-version", "anthropic-beta", "openai-beta"] as const;

/** Returns the client's protocol headers, which the vendor's adapter may forward. */
function listProtocolHeaders({ request }: Pick<ObjectCall, "request">): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of PROTOCOL_HEADERS) {
    const value = request.headers[name];
    if (typeof value === "string" && /^[\w.,: =-]{1,500}$/.test(value)) found[name] = value;
  }
  return found;
}
