import { listedName } from "../billing/pricing/listed-name.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { findSupport, type OpenAccount } from "./accounts.ts";
import { buildNewRow } from "./new-row.ts";
import { readBatchTags } from "./read-batch-tags.ts";
import { admitBatch, readBatchLimits } from "./admit.ts";
import { findFullChannels } from "./channel-room.ts";
import { chooseChannel, listAbleChannels, mayBatchModel, type BatchTarget } from "./choose-channel.ts";
import { readIdempotencyKey, findRepeated, insertOnce } from "./idempotency.ts";
import { readInlineItems, type InlineItems } from "./inline/read-items.ts";
import { requireItems, spoolInlineBody } from "./inline/spool-body.ts";
import type { InlineBody } from "./inline/inline-body.ts";
import { createFromGeminiFile } from "./files/create-from-gemini-file.ts";
import { renameModels, spliceSpool } from "./inline/splice.ts";
import { takeDeposit } from "./deposit.ts";
import { estimateBatch, isCapMissing, sumPrompts, type BatchEstimate } from "./estimate-batch.ts";
import { mapModel } from "../snapshot/model-mapping.ts";
import type { CallTags } from "../relay/request/request.ts";
import type { InlineProtocol } from "./protocols/protocol.ts";
import { submitBatch } from "./submit.ts";
import type { BatchCall, BatchDeps, BatchRow } from "./types.ts";

/** Creates a batch whose requests are in the body of the call. Throws AppError. */
export async function createInlineBatch(call: BatchCall, protocol: InlineProtocol, deps: BatchDeps): Promise<BatchRow> {
  await deps.calls.take(call.requestId, call.caller.userId);
  const key = readIdempotencyKey(call.request.headers);
  const tags = readBatchTags(call, {}, deps);
  await admitBatch(call.caller, key, deps);
  const limits = readBatchLimits(deps.snapshots.current().options);
  const { minBytesPerSecond } = deps.bodyLimits;
  const maxBytes = Math.min(limits.maxBytes, protocol.maxBytes ?? Infinity);
  const { itemPath, hasTwoSpellings = false } = protocol;
  const reading = { ...limits, maxBytes, minBytesPerSecond, hasTwoSpellings };
  const body = await spoolInlineBody(call.request, itemPath, reading);
  try {
    const repeated = await findRepeated({ userId: call.caller.userId, key, hash: body.hash }, deps);
    if (repeated) return repeated;
    const { ofPath } = protocol;
    const fileId = ofPath?.readFileName(body.frame);
    if (ofPath && fileId !== undefined) {
      checkModels([[ofPath.model, { first: 0 }]], { call, protocol, key, tags }, deps);
      return await createFromGeminiFile({ call, protocol, key, tags, body, fileId, model: ofPath.model }, deps);
    }
    requireItems(body, itemPath);
    return await createFrom(body, { call, protocol, key, tags }, deps);
  } finally {
    await body.spool.dispose();
  }
}

interface Creation {
  readonly call: BatchCall;
  readonly protocol: InlineProtocol;
  readonly key: string | undefined;
  readonly tags: CallTags | undefined;
}

async function createFrom(body: InlineBody, creation: Creation, deps: BatchDeps): Promise<BatchRow> {
  const items = await readInlineItems(body, creation.protocol, creation.call, deps);
  checkModels(items.models, creation, deps);
  const full = new Set<number>();
  for (;;) {
    const target = await chooseFor({ items, body, full }, creation, deps);
    try {
      return await createAt(target, { items, body }, creation, deps);
    } catch (error) {
      // Another creation took the last place between the choice and the row: nothing was written.
      if (!(error instanceof AppError) || error.code !== "batch_queue_full") throw error;
      full.add(target.channel.id);
    }
  }
}

interface ReadBody {
  readonly items: InlineItems;
  readonly body: InlineBody;
}

async function createAt(
  target: BatchTarget,
  { items, body }: ReadBody,
  creation: Creation,
  deps: BatchDeps,
): Promise<BatchRow> {
  const { call, protocol } = creation;
  const account = requireAccount(target, deps);
  const rename = (model: string) => mapModel(target.channel.modelMapping, model);
  const estimate = estimateBatch(
    { ...items, operation: protocol.operation },
    { group: target.group, caller: call.caller, rename, place: (item) => protocol.placeModel(item) },
    deps,
  );
  refuseUncapped(protocol, estimate, call, deps);
  const row = buildRow({ body, items, target, account, estimate }, creation, deps);
  const edits = renameModels(items, { rename, writeModel: protocol.writeModel }, protocol.editFrame?.(body, row) ?? []);
  const repeated = await insertOnce(row, items.customIds, deps);
  if (repeated) return repeated;
  await takeDeposit({ row, call, target, model: findDearestModel(estimate) }, deps);
  const spliced = spliceSpool(body.spool, edits);
  return submitBatch({ row, account, protocol, body: spliced, headers: call.request.headers }, deps);
}

/** Every model must be one that the caller's calls may use, and must have a price. */
function checkModels(
  models: Iterable<readonly [string, { readonly first: number }]>,
  { call, protocol }: Creation,
  deps: BatchDeps,
): void {
  const snapshot = deps.snapshots.current();
  for (const [model, { first }] of models) {
    if (mayBatchModel(call.caller, model, snapshot)) continue;
    const param = protocol.placeModel(first);
    const values = { model, group: call.caller.group };
    const { message } = new AppError("model_not_found", { values });
    throw invalidRequest(param, `${param}: ${message}`);
  }
}

/** @param full channels that have turned out to be full; others are added */
async function chooseFor(
  { items, body, full }: ReadBody & { readonly full: Set<number> },
  { call: { caller }, protocol }: Creation,
  deps: BatchDeps,
): Promise<BatchTarget> {
  const { sharedIds, total } = items;
  const tokens = [...items.models.values()].reduce((all, { specs }) => all + sumPrompts(specs), 0);
  const needs = { models: [...items.models.keys()], items: total, bytes: body.spool.size, tokens, sharedIds };
  const snapshot = deps.snapshots.current();
  const able = listAbleChannels(needs, caller, protocol, snapshot);
  for (const id of await findFullChannels(able, tokens, deps)) full.add(id);
  return chooseChannel(needs, caller, protocol, { snapshot, random: deps.random, full });
}

function requireAccount({ channel }: BatchTarget, { random }: BatchDeps): OpenAccount {
  const found = findSupport(channel);
  const usable = channel.usableKeys ?? channel.keys.map((_key, index) => index);
  const key = channel.keys[usable[Math.floor(random() * usable.length)] ?? -1];
  if (!found || key === undefined) throw new AppError("unsupported_by_channel");
  return { channel, key, ...found };
}

interface RowParts {
  readonly body: InlineBody;
  readonly items: InlineItems;
  readonly target: BatchTarget;
  readonly account: OpenAccount;
  readonly estimate: BatchEstimate;
}

function buildRow(
  { body, items, target, account, estimate }: RowParts,
  { call, protocol, key, tags }: Creation,
  deps: BatchDeps,
): BatchRow {
  return {
    ...buildNewRow({ call, protocol, account, group: target.group, endpoint: protocol.endpoint, tags }, deps),
    models: JSON.stringify(estimate.models),
    total: items.total,
    deposit: estimate.amount,
    terms: JSON.stringify(estimate.terms),
    idempotency_key: key ?? null,
    body_hash: body.hash,
  };
}

function refuseUncapped(
  { itemPath, capMember }: InlineProtocol,
  estimate: BatchEstimate,
  { caller }: BatchCall,
  deps: BatchDeps,
): void {
  if (capMember === undefined || !isCapMissing(estimate, caller, deps)) return;
  const list = itemPath.join(".");
  throw invalidRequest(list, `${list}: every request needs ${capMember} here.`);
}

/** Budgets of models count a batch of several models under the one that costs most. */
function findDearestModel({ models }: BatchEstimate): string {
  const [dearest] = Object.entries(models).toSorted(([, one], [, other]) => other.estimate - one.estimate);
  return listedName(dearest?.[0] ?? "");
}
