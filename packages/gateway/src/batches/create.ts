import { listedName } from "../billing/pricing/listed-name.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { findSupport, type OpenAccount } from "./accounts.ts";
import { buildNewRow } from "./new-row.ts";
import { admitBatch, readBatchLimits } from "./admit.ts";
import { chooseChannel, mayBatchModel, type BatchTarget } from "./choose-channel.ts";
import { readIdempotencyKey, findRepeated, insertOnce } from "./idempotency.ts";
import { readInlineItems, type InlineItems } from "./inline/read-items.ts";
import { spoolInlineBody, type InlineBody } from "./inline/spool-body.ts";
import { renameModels, spliceSpool } from "./inline/splice.ts";
import { takeDeposit } from "./deposit.ts";
import { estimateBatch, type BatchEstimate } from "./estimate-batch.ts";
import { mapModel } from "../snapshot/model-mapping.ts";
import type { InlineProtocol } from "./protocols/protocol.ts";
import { submitBatch } from "./submit.ts";
import type { BatchCall, BatchDeps, BatchRow } from "./types.ts";

/** Creates a batch whose requests are in the body of the call. Throws AppError. */
export async function createInlineBatch(call: BatchCall, protocol: InlineProtocol, deps: BatchDeps): Promise<BatchRow> {
  await deps.calls.take(call.requestId, call.caller.userId);
  const key = readIdempotencyKey(call.request.headers);
  await admitBatch(call.caller, deps);
  const limits = readBatchLimits(deps.snapshots.current().options);
  const { minBytesPerSecond } = deps.bodyLimits;
  const body = await spoolInlineBody(call.request, protocol.itemPath, { ...limits, minBytesPerSecond });
  try {
    const repeated = await findRepeated({ userId: call.caller.userId, key, hash: body.hash }, deps);
    return repeated ?? (await createFrom(body, { call, protocol, key }, deps));
  } finally {
    await body.spool.dispose();
  }
}

interface Creation {
  readonly call: BatchCall;
  readonly protocol: InlineProtocol;
  readonly key: string | undefined;
}

async function createFrom(body: InlineBody, creation: Creation, deps: BatchDeps): Promise<BatchRow> {
  const { call, protocol } = creation;
  const items = await readInlineItems(body, protocol, call, deps);
  checkModels(items, creation, deps);
  const target = chooseFor(items, body, creation, deps);
  const account = requireAccount(target, deps);
  const rename = (model: string) => mapModel(target.channel.modelMapping, model);
  const place = (item: number) => nameModelMember(protocol, item);
  const estimate = estimateBatch(
    { ...items, operation: "chat" },
    { group: target.group, caller: call.caller, rename, place },
    deps,
  );
  const row = buildRow({ body, items, target, account, estimate }, creation, deps);
  const repeated = await insertOnce(row, items.customIds, deps);
  if (repeated) return repeated;
  await takeDeposit({ row, call, target, model: findDearestModel(estimate) }, deps);
  const spliced = spliceSpool(body.spool, renameModels(items, rename));
  return submitBatch({ row, account, protocol, body: spliced, headers: call.request.headers }, deps);
}

function nameModelMember({ itemPath }: InlineProtocol, item: number): string {
  return `${itemPath.join(".")}.${item}.params.model`;
}

/** Every model must be one that the caller's calls may use, and must have a price. */
function checkModels({ models }: InlineItems, { call, protocol }: Creation, deps: BatchDeps): void {
  const snapshot = deps.snapshots.current();
  for (const [model, { first }] of models) {
    if (mayBatchModel(call.caller, model, snapshot)) continue;
    const param = nameModelMember(protocol, first);
    const values = { model, group: call.caller.group };
    const { message } = new AppError("model_not_found", { values });
    throw invalidRequest(param, `${param}: ${message}`);
  }
}

function chooseFor(items: InlineItems, body: InlineBody, { call, protocol }: Creation, deps: BatchDeps): BatchTarget {
  const { sharedIds, total } = items;
  const needs = { models: [...items.models.keys()], items: total, bytes: body.spool.size, sharedIds };
  return chooseChannel(needs, call.caller, protocol, { snapshot: deps.snapshots.current(), random: deps.random });
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
  { call, protocol, key }: Creation,
  deps: BatchDeps,
): BatchRow {
  return {
    ...buildNewRow({ call, protocol, account, group: target.group }, deps),
    models: JSON.stringify(estimate.models),
    total: items.total,
    deposit: estimate.amount,
    terms: JSON.stringify(estimate.terms),
    idempotency_key: key ?? null,
    body_hash: body.hash,
  };
}

/** Budgets of models count a batch of several models under the one that costs most. */
function findDearestModel({ models }: BatchEstimate): string {
  const [dearest] = Object.entries(models).toSorted(([, one], [, other]) => other.estimate - one.estimate);
  return listedName(dearest?.[0] ?? "");
}
