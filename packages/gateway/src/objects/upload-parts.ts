import { number, text } from "../dialects/core/read.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import type { OpenAccount } from "./account.ts";
import { createObjectId } from "./ids.ts";
import { shownError } from "./library.ts";
import { IDLE_MS, sendJson, type ObjectCall, type ObjectDeps } from "./object-call.ts";
import { ReceivedForm } from "./received-form.ts";
import type { StoredObject } from "./stored-object.ts";
import { readJson } from "./upstream.ts";

const MAX_PART_BYTES = 64 * 1024 * 1024;
const MAX_PARTS = 1_000;

interface PartOf {
  readonly upload: StoredObject;
  readonly account: OpenAccount;
}

/** Sends one part of an upload to its account, while it arrives if its length is announced. */
export async function sendPart(call: ObjectCall, { upload, account }: PartOf, deps: ObjectDeps): Promise<void> {
  const maxFileBytes = Math.min(MAX_PART_BYTES, await measureRest(upload, deps));
  const place = deps.room.enter();
  let form: ReceivedForm | undefined;
  try {
    form = new ReceivedForm(call.request, place, { ...deps, maxFileBytes, idleMs: IDLE_MS, fileField: "data" });
    await form.readUntilFile();
    form.check();
    const isStreamed = !form.isWhole && form.announced !== undefined;
    if (!isStreamed) await form.readToEnd();
    form.check();
    const part = await sendOn(call, { upload, account, form, isStreamed }, deps);
    sendJson(call.response, { id: part.id, object: "upload.part", created_at: part.createdAt, upload_id: upload.id });
  } catch (error) {
    throw shownError(error, upload);
  } finally {
    form?.close();
    await place.leave();
  }
}

/** Returns how many bytes of the announced size are still to come. */
async function measureRest(upload: StoredObject, { store }: ObjectDeps): Promise<number> {
  const parts = await store.listParts(upload);
  if (parts.length >= MAX_PARTS) throw invalidRequest("data", `The upload has ${MAX_PARTS} parts: send larger ones.`);
  const rest = upload.bytes - parts.reduce((sum, { facts }) => sum + (number(facts, "size") ?? 0), 0);
  if (rest > 0) return rest;
  throw invalidRequest("data", "All announced bytes of the upload have arrived: complete it.");
}

interface Sending extends PartOf {
  readonly form: ReceivedForm;
  readonly isStreamed: boolean;
}

async function sendOn(
  { signal }: ObjectCall,
  { upload, account, form, isStreamed }: Sending,
  deps: ObjectDeps,
): Promise<StoredObject> {
  const broken = new AbortController();
  const sent = isStreamed
    ? form.sendOn(form.announced ?? 0, (error) => broken.abort(AppError.from(error)))
    : form.sendWhole();
  const answer = await deps.call(account, {
    method: "POST",
    isParts: true,
    below: `/${encodeURIComponent(upload.upstreamId)}/parts`,
    headers: { "content-type": sent.contentType, "content-length": String(sent.size) },
    body: sent.body,
    signal: AbortSignal.any([signal, broken.signal]),
  });
  const { file } = form;
  const size = file?.end === undefined ? 0 : file.end - file.start;
  const part = buildPart(upload, { answer: (await readJson(answer)) as JsonObject, size }, deps);
  await deps.store.create(part);
  deps.uploaded({ dialect: "openai", way: isStreamed ? "stream" : "spool", bytes: size });
  return part;
}

/** A part is remembered as long as its upload; its bytes count there. */
function buildPart(
  upload: StoredObject,
  { answer, size }: { readonly answer: JsonObject; readonly size: number },
  { clock }: ObjectDeps,
): StoredObject {
  const upstreamId = text(answer, "id");
  if (upstreamId === undefined || upstreamId === "") throw new AppError("upstream_invalid_response");
  return {
    ...upload,
    id: createObjectId("openai", "part", clock.now()),
    kind: "part",
    upstreamId,
    name: upload.id,
    bytes: 0,
    facts: { size },
    createdAt: seconds(clock),
  };
}
