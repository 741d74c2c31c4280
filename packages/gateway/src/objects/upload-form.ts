import { invalidRequest, AppError } from "../lib/app-error.ts";
import { parseObject } from "../lib/text/json.ts";
import { text } from "../dialects/core/read.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { chooseAccounts, type UploadWish } from "./choose-account.ts";
import type { OpenAccount } from "./account.ts";
import { holdsRequests, MAX_LINE_BYTES, readFirstLine } from "./file-content.ts";
import { IDLE_MS, sendJson, type ObjectCall, type ObjectDeps } from "./object-call.ts";
import { requireQuota } from "./quota.ts";
import { ReceivedForm } from "./received-form.ts";
import { sendUpload, type Upload } from "./send-upload.ts";
import type { FileShape } from "./shapes/shape.ts";

const MODEL_HEADER = "x-fairway-model";

/** Takes a form with a file and stores the file with an upstream. */
export async function uploadForm(call: ObjectCall, shape: FileShape, deps: ObjectDeps): Promise<void> {
  const quota = requireQuota(call.caller, deps.snapshots.current().options);
  const place = deps.room.enter();
  let form: ReceivedForm | undefined;
  try {
    form = new ReceivedForm(call.request, place, { ...deps, idleMs: IDLE_MS });
    await form.readUntilFile();
    const upload = await readUpload(call, form, { shape, quota });
    const stored = await sendUpload(call, upload, deps);
    sendJson(call.response, shape.showFile(stored));
  } finally {
    form?.close();
    await place.leave();
  }
}

/** Decides whether the file is sent while it arrives, and spools the rest of it if not. */
async function readUpload(
  call: ObjectCall,
  form: ReceivedForm,
  { shape, quota }: Pick<Upload, "shape" | "quota">,
): Promise<Upload> {
  form.check();
  const needsPurpose = shape.dialect === "openai";
  const early = form.field("purpose");
  const isKnown = !needsPurpose || (early !== undefined && !holdsRequests(early));
  const isStreamed = isKnown && !form.isWhole && form.announced !== undefined;
  if (!isStreamed) await form.readToEnd();
  form.check();
  const purpose = form.field("purpose") ?? "";
  if (needsPurpose && purpose === "") throw invalidRequest("purpose", "The form has no purpose.");
  return { form, shape, quota, purpose, isStreamed, choose: (deps) => chooseFor(call, form, purpose, deps) };
}

async function chooseFor(
  call: ObjectCall,
  form: ReceivedForm,
  purpose: string,
  { snapshots, selection }: ObjectDeps,
): Promise<readonly OpenAccount[]> {
  const { caller, dialect } = call;
  const wish: UploadWish = { caller, dialect, model: readModel(call, form) };
  const isRead = wish.model === undefined && holdsRequests(purpose) && form.isWhole;
  const modelInside = isRead ? await readModelInside(form) : undefined;
  const accounts = chooseAccounts({ ...wish, modelInside }, snapshots.current(), selection);
  const takers = accounts.filter(({ service }) => service.purposes?.includes(purpose) ?? true);
  if (takers.length > 0) return takers;
  throw new AppError("unsupported_by_channel", { message: `No channel stores files for ${purpose || "no purpose"}.` });
}

/** Returns the model by which the client wants the channel to be chosen. */
export function readModel({ request }: Pick<ObjectCall, "request">, form?: ReceivedForm): string | undefined {
  const header = request.headers[MODEL_HEADER];
  const named =
    (Array.isArray(header) ? header[0] : header) ??
    form?.field("model") ??
    form?.field("target_model_names")?.split(",", 1)[0];
  return named === undefined || named.trim() === "" ? undefined : named.trim();
}

/** Returns the model of the first request in a file; undefined for lines that are none, which is no fault yet. */
async function readModelInside(form: ReceivedForm): Promise<string | undefined> {
  const line = await readFirstLine(form.openFile());
  if (!line) throw new AppError("batch_line_too_large", { param: "file", values: { limit: MAX_LINE_BYTES } });
  const body = parseObject(line.toString("utf8"))?.["body"];
  return typeof body === "object" && body !== null ? text(body as JsonObject, "model") : undefined;
}
