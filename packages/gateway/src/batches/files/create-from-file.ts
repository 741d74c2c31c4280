import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { seconds } from "../../lib/clock.ts";
import type { StoredObject } from "../../objects/stored-object.ts";
import { readJson } from "../../relay/body/read-body.ts";
import type { CallTags } from "../../relay/request/request.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import type { OpenAccount } from "../accounts.ts";
import { admitBatch } from "../admit.ts";
import type { BatchTarget } from "../choose-channel.ts";
import { takeDeposit } from "../deposit.ts";
import { requireFileRoom } from "../channel-room.ts";
import { estimateBatch, isCapMissing, sumPrompts, type BatchEstimate } from "../estimate-batch.ts";
import { findRepeated, insertOnce, readIdempotencyKey } from "../idempotency.ts";
import { buildNewRow } from "../new-row.ts";
import { readBatchTags } from "../read-batch-tags.ts";
import { openaiBatches, OWN_MARK } from "../protocols/openai.ts";
import { submitBatch } from "../submit.ts";
import type { BatchCall, BatchDeps, BatchRow } from "../types.ts";
import { ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { LineFault, type LineErrors } from "./line-errors.ts";
import { findInput, readInputLines, requireFileAccount, requireServed, type InputFile } from "./input-file.ts";
import { createOpenAiForm } from "./line-forms.ts";
import { readFileCreation, type FileCreation } from "./read-creation.ts";
import { readRenamed } from "./rename-models.ts";
import type { FileLines } from "./read-lines.ts";

const MAX_PAIRS = 16;

/** Everything that is known about a creation before its file is read. */
interface Creation {
  readonly call: BatchCall;
  readonly creation: FileCreation;
  readonly file: InputFile;
  readonly object: StoredObject;
  readonly account: OpenAccount;
  readonly endpoint: Endpoint;
  readonly key: string | undefined;
  readonly hash: string;
  readonly tags: CallTags | undefined;
}

/** Creates a batch from a file that an upstream stores. Faults of lines become a batch that has failed. */
export async function createBatchFromFile(call: BatchCall, deps: BatchDeps): Promise<BatchRow> {
  await deps.calls.take(call.requestId, call.caller.userId);
  const key = readIdempotencyKey(call.request.headers);
  await admitBatch(call.caller, key, deps);
  const { bytes } = await readJson(call.request, deps.bodyLimits);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const repeated = await findRepeated({ userId: call.caller.userId, key, hash }, deps);
  if (repeated) return repeated;
  const creation = readFileCreation(bytes);
  const file = { id: creation.inputFileId, protocol: openaiBatches.id, param: "input_file_id" };
  const object = await findInput(file, call, deps);
  const account = requireFileAccount(object, file, deps);
  const endpoint = requireEndpoint(creation, account);
  const tags = readBatchTags(call, { metadata: creation.metadata }, deps);
  const all = { call, creation, file, object, account, endpoint, key, hash, tags };
  const form = createOpenAiForm(creation.endpoint, readRenamed(object.facts));
  const lines = await readInputLines(all, { ...endpoint, form }, call, deps);
  return lines.errors.isEmpty ? createFromLines(all, lines, deps) : refuseLines(all, lines.errors, deps);
}

function requireEndpoint({ endpoint, window }: FileCreation, { support }: OpenAccount): Endpoint {
  const found = support.endpoints?.includes(endpoint) === true ? ENDPOINTS.get(endpoint) : undefined;
  if (!found) throw invalidRequest("endpoint", `endpoint must be one of ${support.endpoints?.join(", ") ?? "none"}.`);
  const windows = support.windows ?? [];
  if (!windows.includes(window))
    throw invalidRequest("completion_window", `completion_window must be ${windows.join(", ")}.`);
  return found;
}

async function createFromLines(all: Creation, lines: FileLines, deps: BatchDeps): Promise<BatchRow> {
  const { call, account, endpoint } = all;
  const target = requireOwnName(all, lines.model, deps);
  const { model, specs } = lines;
  const upstream = readRenamed(all.object.facts)?.upstream ?? model;
  const items = { models: new Map([[model, { first: 0, specs, spans: [] }]]), operation: endpoint.operation };
  const estimate = estimateBatch(
    items,
    { group: target.group, caller: call.caller, rename: () => upstream, place: () => "input_file_id" },
    deps,
  );
  const uncapped = findUncapped(all, estimate, deps);
  if (uncapped) {
    lines.errors.add(uncapped, null);
    return refuseLines(all, lines.errors, deps);
  }
  await requireFileRoom(account.channel, sumPrompts(specs), deps);
  const row = buildRow(all, { target, estimate, total: specs.length }, deps);
  const repeated = await insertOnce(row, lines.customIds, deps);
  if (repeated) return repeated;
  await takeDeposit({ row, call, target, model: listedName(model) }, deps);
  const body = buildUpstreamBody(all, upstream, row.id);
  return submitBatch({ row, account, protocol: openaiBatches, body, headers: call.request.headers }, deps);
}

/** The channel of the file must serve the model under the name that the file has. */
function requireOwnName(
  { call, file, object, account: { channel } }: Creation,
  model: string,
  deps: BatchDeps,
): BatchTarget {
  const target = requireServed(file, { model, channel }, call, deps);
  const isRenamed = readRenamed(object.facts)?.model === model;
  if (isRenamed || mapModel(channel.modelMapping, model) === model) return target;
  throw new AppError("batch_model_mapped", { param: file.param, values: { model } });
}

function findUncapped({ call, endpoint }: Creation, estimate: BatchEstimate, deps: BatchDeps): LineFault | undefined {
  if (!isCapMissing(estimate, call.caller, deps)) return undefined;
  const cap = endpoint.operation === "responses" ? "max_output_tokens" : "max_completion_tokens";
  return new LineFault("missing_required_parameter", `Every request needs ${cap} here.`, `body.${cap}`);
}

function buildRow(
  { call, creation, object, account, key, hash, tags }: Creation,
  {
    target,
    estimate,
    total,
  }: { readonly target: BatchTarget; readonly estimate: BatchEstimate; readonly total: number },
  deps: BatchDeps,
): BatchRow {
  return {
    ...buildNewRow({ call, protocol: openaiBatches, account, group: target.group, tags }, deps),
    endpoint: creation.endpoint,
    models: JSON.stringify(estimate.models),
    input_file_id: object.id,
    total,
    deposit: estimate.amount,
    terms: JSON.stringify(estimate.terms),
    metadata: JSON.stringify({ input: object.upstreamId }),
    idempotency_key: key ?? null,
    body_hash: hash,
  };
}

/** Stores the batch that has failed, so that the client finds it again. Nothing was sent, no money was moved. */
async function refuseLines(all: Creation, errors: LineErrors, deps: BatchDeps): Promise<BatchRow> {
  const { call, creation, object, account, key, hash, tags } = all;
  const now = seconds(deps.clock);
  const row: BatchRow = {
    ...buildNewRow({ call, protocol: openaiBatches, account, group: call.caller.group, tags }, deps),
    endpoint: creation.endpoint,
    input_file_id: object.id,
    phase: "refused",
    error: "line_errors",
    wire: JSON.stringify(errors.toBatch(creation.asked, now)),
    metadata: JSON.stringify({ input: object.upstreamId }),
    idempotency_key: key ?? null,
    body_hash: hash,
    ended_at: now,
  };
  return (await insertOnce(row, undefined, deps)) ?? row;
}

/** The upstream's metadata names the batch, so that it is found again after a lost answer. */
function buildUpstreamBody({ creation, object, account }: Creation, model: string, id: string) {
  const { asked, metadata } = creation;
  const isFull = Object.keys(metadata).length >= MAX_PAIRS;
  const body: JsonObject = {
    ...asked,
    input_file_id: object.upstreamId,
    metadata: isFull ? { ...metadata } : { ...metadata, [OWN_MARK]: id },
  };
  const { form } = account.support;
  const bytes = Buffer.from(JSON.stringify(form ? form.writeCreation(body, model) : body));
  return { size: bytes.length, open: () => Readable.from([bytes]) };
}
