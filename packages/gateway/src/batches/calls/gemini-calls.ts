import { bareModel } from "../../dialects/gemini-generate/fields.ts";
import { AppError } from "../../lib/app-error.ts";
import { readCount, readPageToken, writePageToken } from "../../objects/shapes/page-token.ts";
import { cancelBatch, deleteBatch } from "../cancel.ts";
import { createInlineBatch } from "../create.ts";
import { refreshBatch } from "../poll.ts";
import { createGeminiInline, type GeminiVerb } from "../protocols/gemini-inline.ts";
import { geminiBatches } from "../protocols/gemini.ts";
import { listOwnBatches } from "../store.ts";
import type { BatchCall, BatchDeps } from "../types.ts";
import { readQuery } from "../../relay/ingress/route-arrival.ts";
import { requireMethod, requireOwn, type AskedBatch } from "./asked-batch.ts";
import { sendOperation } from "./send-operation.ts";
import { decodePercent } from "../../lib/text/percent-encoding.ts";

const CREATION = /^\/(?:v1|v1beta)\/(?:models|tunedModels)\/(.+):(batchGenerateContent|asyncBatchEmbedContent)$/;
const MAX_PAGE = 1_000;
const USUAL_PAGE = 20;

/** Returns the creation that a path means: it names the model of all items. */
export function readGeminiCreation(path: string): { readonly model: string; readonly verb: GeminiVerb } | undefined {
  const [, model, verb] = CREATION.exec(path) ?? [];
  return model === undefined
    ? undefined
    : { model: bareModel(decodePercent(model) ?? model), verb: verb as GeminiVerb };
}

export async function answerGeminiCreation(
  call: BatchCall,
  creation: { readonly model: string; readonly verb: GeminiVerb },
  deps: BatchDeps,
): Promise<unknown> {
  const row = await createInlineBatch(call, createGeminiInline(creation), deps);
  return geminiBatches.view(row, () => "");
}

/** Answers in Google's protocol. Undefined = the answer was already sent. */
export async function answerOperations({ call, method, id, rest }: AskedBatch, deps: BatchDeps): Promise<unknown> {
  const allowed = rest === ":cancel" ? ["POST"] : ["GET", "DELETE"];
  requireMethod(call, method, id === undefined ? ["GET"] : allowed);
  if (rest !== "" && rest !== ":cancel") throw new AppError("unknown_url", { values: { method, path: rest } });
  await deps.calls.take(call.requestId, call.caller.userId);
  if (id === undefined) return listOperations(call, deps);
  const row = await requireOwn(call, geminiBatches, id, deps);
  if (rest === ":cancel") {
    await cancelBatch(row, deps);
    return {};
  }
  const fresh = await refreshBatch(row, deps);
  if (method === "GET") return sendOperation(call, fresh, deps);
  await deleteBatch(fresh, deps);
  return {};
}

async function listOperations(call: BatchCall, deps: BatchDeps): Promise<unknown> {
  const query = readQuery(call.request);
  const limit = readCount(query.get("pageSize"), "pageSize", { max: MAX_PAGE, fallback: USUAL_PAGE });
  const token = query.get("pageToken") ?? "";
  const after = token === "" ? undefined : readPageToken(token, "pageToken");
  const found = await listOwnBatches(
    deps,
    { userId: call.caller.userId, dialect: geminiBatches.id },
    { limit },
    after && { row: { created_at: after.createdAt, id: after.id }, side: "after" },
  );
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    ...(rows.length > 0 && { operations: rows.map((row) => geminiBatches.view(row, () => "")) }),
    ...(found.length > limit && last && { nextPageToken: writePageToken({ createdAt: last.created_at, id: last.id }) }),
  };
}
