import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { seconds } from "../../lib/clock.ts";
import type { StoredObject } from "../../objects/stored-object.ts";
import { servingGroups } from "../../relay/admission/model-access.ts";
import { readJson } from "../../relay/body/read-body.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { findAccount, type OpenAccount } from "../accounts.ts";
import { admitBatch, readBatchLimits } from "../admit.ts";
import type { BatchTarget } from "../choose-channel.ts";
import { takeDeposit } from "../deposit.ts";
import { estimateBatch, type BatchEstimate } from "../estimate-batch.ts";
import { findRepeated, insertOnce, readIdempotencyKey } from "../idempotency.ts";
import { buildNewRow } from "../new-row.ts";
import { openaiBatches, OWN_MARK } from "../protocols/openai.ts";
import { submitBatch } from "../submit.ts";
import type { BatchCall, BatchDeps, BatchRow } from "../types.ts";
import { ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { LineFault, type LineErrors } from "./line-errors.ts";
import { readFileCreation, type FileCreation } from "./read-creation.ts";
import { readFileLines, type FileLines } from "./read-lines.ts";

const MAX_PAIRS = 16;

/** Everything that is known about a creation before its file is read. */
interface Creation {
  readonly call: BatchCall;
  readonly creation: FileCreation;
  readonly object: StoredObject;
  readonly account: OpenAccount;
  readonly endpoint: Endpoint;
  readonly key: string | undefined;
  readonly hash: string;
}

/** Creates a batch from a file that an upstream stores. Faults of lines become a batch that has failed. */
export async function createBatchFromFile(call: BatchCall, deps: BatchDeps): Promise<BatchRow> {
  await deps.calls.take(call.requestId, call.caller.userId);
  const key = readIdempotencyKey(call.request.headers);
  await admitBatch(call.caller, deps);
  const { bytes } = await readJson(call.request, deps.bodyLimits);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const repeated = await findRepeated({ userId: call.caller.userId, key, hash }, deps);
  if (repeated) return repeated;
  const creation = readFileCreation(bytes);
  const object = await findInput(creation, call, deps);
  const account = requireFileAccount(object, deps);
  const endpoint = requireEndpoint(creation, account);
  const all = { call, creation, object, account, endpoint, key, hash };
  const lines = await readLines(all, deps);
  return lines.errors.isEmpty ? createFromLines(all, lines, deps) : refuseLines(all, lines.errors, deps);
}

async function findInput({ inputFileId }: FileCreation, call: BatchCall, deps: BatchDeps): Promise<StoredObject> {
  const object = await deps.library.find(inputFileId, deps.library.viewAs(call.caller));
  if (object.dialect === "openai") return object;
  throw new AppError("file_not_found", { param: "input_file_id", values: { id: inputFileId.slice(0, 128) } });
}

/** A batch is created where its file is stored. */
function requireFileAccount({ id, channelId, keyMark }: StoredObject, deps: BatchDeps): OpenAccount {
  const account = findAccount({ channel_id: channelId, key_mark: keyMark }, deps);
  if (!account || account.support.protocol !== openaiBatches.id || account.channel.setting["batches"] === false)
    throw new AppError("unsupported_by_channel", { message: "The upstream that stores the file takes no batches." });
  if (account.channel.status !== 1) throw new AppError("file_unavailable", { param: "input_file_id", values: { id } });
  return account;
}

function requireEndpoint({ endpoint, window }: FileCreation, { support }: OpenAccount): Endpoint {
  const found = support.endpoints?.includes(endpoint) === true ? ENDPOINTS.get(endpoint) : undefined;
  if (!found) throw invalidRequest("endpoint", `endpoint must be one of ${support.endpoints?.join(", ") ?? "none"}.`);
  const windows = support.windows ?? [];
  if (!windows.includes(window))
    throw invalidRequest("completion_window", `completion_window must be ${windows.join(", ")}.`);
  return found;
}

async function readLines({ call, creation, object, account, endpoint }: Creation, deps: BatchDeps): Promise<FileLines> {
  const limits = readBatchLimits(deps.snapshots.current().options);
  const { channel, support } = account;
  const gone = new AbortController();
  call.response.once("close", () => gone.abort(new AppError("client_closed_request")));
  const { body } = await deps.library.openContent(object, { signal: gone.signal });
  const rules = {
    ...endpoint,
    url: creation.endpoint,
    channel,
    maxItems: Math.min(limits.maxItems, support.maxItems),
    maxBytes: Math.min(limits.maxBytes, support.maxBytes),
  };
  return readFileLines(body, rules, call, deps);
}

async function createFromLines(all: Creation, lines: FileLines, deps: BatchDeps): Promise<BatchRow> {
  const { call, account, endpoint } = all;
  const target = requireServed(all, lines.model, deps);
  const { model, specs } = lines;
  const items = { models: new Map([[model, { first: 0, specs, spans: [] }]]), operation: endpoint.operation };
  const estimate = estimateBatch(
    items,
    { group: target.group, caller: call.caller, rename: (name) => name, place: () => "input_file_id" },
    deps,
  );
  const uncapped = findUncapped(all, estimate, deps);
  if (uncapped) {
    lines.errors.add(uncapped, null);
    return refuseLines(all, lines.errors, deps);
  }
  const row = buildRow(all, { target, estimate, total: specs.length }, deps);
  const repeated = await insertOnce(row, lines.customIds, deps);
  if (repeated) return repeated;
  await takeDeposit({ row, call, target, model: listedName(model) }, deps);
  const body = buildUpstreamBody(all, row.id);
  return submitBatch({ row, account, protocol: openaiBatches, body, headers: call.request.headers }, deps);
}

/** The channel of the file must serve the model for the caller, under the name that the file has. */
function requireServed({ call, object, account }: Creation, model: string, deps: BatchDeps): BatchTarget {
  const snapshot = deps.snapshots.current();
  const { channel } = account;
  const group = servingGroups(call.caller, snapshot).find((name) => {
    const index = snapshot.index.get(name);
    const levels = index?.get(model) ?? index?.get(listedName(model)) ?? [];
    return levels.some(({ channels }) => channels.includes(channel));
  });
  if (group === undefined)
    throw new AppError("file_not_on_channel", { param: "input_file_id", values: { id: object.id, model } });
  if (mapModel(channel.modelMapping, model) !== model)
    throw new AppError("batch_model_mapped", { param: "input_file_id", values: { model } });
  return { channel, group };
}

/** Answers without a limit can pass any reservation, so limited callers have to set one. */
function findUncapped({ call, endpoint }: Creation, { models }: BatchEstimate, deps: BatchDeps): LineFault | undefined {
  const { options } = deps.snapshots.current();
  const isLimited = !call.caller.isUnlimited || !deps.budgets.isEmpty || options.BatchUncapped === "refuse";
  const isUncapped = Object.values(models).some(({ uncapped }) => uncapped > 0);
  if (!isLimited || !isUncapped) return undefined;
  const cap = endpoint.operation === "responses" ? "max_output_tokens" : "max_completion_tokens";
  return new LineFault("missing_required_parameter", `Every request needs ${cap} here.`, `body.${cap}`);
}

function buildRow(
  { call, creation, object, account, key, hash }: Creation,
  {
    target,
    estimate,
    total,
  }: { readonly target: BatchTarget; readonly estimate: BatchEstimate; readonly total: number },
  deps: BatchDeps,
): BatchRow {
  return {
    ...buildNewRow({ call, protocol: openaiBatches, account, group: target.group }, deps),
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
  const { call, creation, object, account, key, hash } = all;
  const now = seconds(deps.clock);
  const row: BatchRow = {
    ...buildNewRow({ call, protocol: openaiBatches, account, group: call.caller.group }, deps),
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
function buildUpstreamBody({ creation, object }: Creation, id: string) {
  const { asked, metadata } = creation;
  const isFull = Object.keys(metadata).length >= MAX_PAIRS;
  const body: JsonObject = {
    ...asked,
    input_file_id: object.upstreamId,
    metadata: isFull ? { ...metadata } : { ...metadata, [OWN_MARK]: id },
  };
  const bytes = Buffer.from(JSON.stringify(body));
  return { size: bytes.length, open: () => Readable.from([bytes]) };
}
