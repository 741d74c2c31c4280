import type { DepositClose, DepositSettlement, LogDetail } from "../../billing/ledger/ledger.ts";
import { ZERO, type Quota } from "../../billing/money/quota.ts";
import { toNumber } from "../../billing/money/ratio.ts";
import type { TokenRates } from "../../billing/pricing/rates.ts";
import { requireModel } from "../pricing/items.ts";
import type { ModelTerms, OpenTerms } from "../pricing/terms.ts";
import { BATCH_CONTENT } from "./log-detail.ts";
import type { BatchSums, ModelSums } from "./sums.ts";

/** What the settlement needs to know about a batch. */
export interface SettledBatch {
  readonly id: string;
  readonly requestId: string;
  readonly userId: number;
  readonly tokenId: number;
  readonly username: string;
  readonly tokenName: string;
  /** Who used the key of a team; absent for keys of persons. */
  readonly actor?: string;
  /** What the batch is for; "" = unknown. */
  readonly tags?: string;
  readonly endUser?: string;
  readonly channelId: number;
  readonly group: string;
  readonly endpoint: string;
  /** The number of its items. */
  readonly total: number;
  /** Items without an output limit. */
  readonly uncapped: number;
  readonly deposit: Quota;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly endedAt: number;
  readonly terms: OpenTerms;
  /** False when consumption logging is off. */
  readonly isLogged: boolean;
  /** The upstream counts more answers than its results have. */
  readonly isShort?: boolean;
}

/** Returns what closes the deposit of a batch: a settlement and a log row for each model that answered, at least one. */
export function settleBatch(
  batch: SettledBatch,
  sums: BatchSums,
  { at, work }: Pick<DepositClose, "at" | "work">,
): DepositClose {
  const { requestId, userId, tokenId } = batch;
  const models = sums.models.length > 0 ? sums.models : [buildEmptySums(batch.terms)];
  const settlements = models.map((of, index): DepositSettlement => {
    const part = {
      of,
      terms: requireModel(batch.terms, of.model),
      others: index === 0 ? countOthers(sums) : NO_OTHERS,
    };
    const settlement = { quota: of.quota, items: of.succeeded, channelId: batch.channelId };
    return batch.isLogged ? { ...settlement, log: buildLog(batch, sums, part) } : settlement;
  });
  return { requestId, userId, tokenId, at, settlements, ...(work && { work }) };
}

function buildEmptySums({ models }: OpenTerms): ModelSums {
  const [model = ""] = models.keys();
  const tokens = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return { model, succeeded: 0, counted: 0, quota: ZERO, full: ZERO, ...tokens, toolCalls: {} };
}

/** Items without an answer. Their results name no model, so the first row counts them. */
type Others = Pick<BatchSums, "failed" | "expired" | "cancelled" | "missing" | "unreadable" | "duplicates">;

const NO_OTHERS: Others = { failed: 0, expired: 0, cancelled: 0, missing: 0, unreadable: 0, duplicates: 0 };

function countOthers({ failed, expired, cancelled, missing, unreadable, duplicates }: BatchSums): Others {
  return { failed, expired, cancelled, missing, unreadable, duplicates };
}

interface ModelPart {
  readonly of: ModelSums;
  readonly terms: ModelTerms;
  readonly others: Others;
}

function buildLog(batch: SettledBatch, sums: BatchSums, part: ModelPart): LogDetail {
  const { of } = part;
  return {
    username: batch.username,
    tokenName: batch.tokenName,
    modelName: of.model,
    channelId: batch.channelId,
    group: batch.group,
    promptTokens: of.promptTokens,
    completionTokens: of.completionTokens,
    useTimeSeconds: Math.max(0, batch.endedAt - batch.createdAt),
    isStream: false,
    content: describe(batch, part),
    other: JSON.stringify({ batch: buildDetail(batch, sums, part), ...buildPriceDetail(batch, part) }),
    ip: "",
    ...(batch.tags && { tags: batch.tags }),
    ...(batch.endUser && { endUser: batch.endUser }),
    ...(batch.actor !== undefined && { actor: batch.actor }),
  };
}

function describe({ id, total, terms: { groupRatio } }: SettledBatch, { of, terms }: ModelPart): string {
  const { inputRatio, outputRatio, price } = terms;
  const ratios = `batch ratio ${toNumber(inputRatio)}/${toNumber(outputRatio)}`;
  const how =
    price.kind === "call"
      ? `model price ${price.modelPrice}`
      : `model ratio ${price.modelRatio}, completion ratio ${price.completionRatio}`;
  return `${BATCH_CONTENT}${id}: ${of.succeeded} of ${total} items, ${ratios}, ${how}, group ratio ${Number(groupRatio)}`;
}

/** The member that statistics, `log explain` and the console read. It is the first one of the row's details. */
function buildDetail(batch: SettledBatch, sums: BatchSums, { of, terms, others }: ModelPart): Record<string, unknown> {
  const { failed, expired, cancelled, missing, unreadable, duplicates } = others;
  const isAlone = sums.models.length < 2;
  const over = sums.quota - batch.deposit;
  return {
    id: batch.id,
    endpoint: batch.endpoint,
    items: isAlone ? batch.total : of.succeeded + failed + expired + cancelled + missing,
    succeeded: of.succeeded,
    failed,
    expired,
    cancelled,
    unreadable,
    uncapped: batch.uncapped,
    deposit: batch.deposit,
    input_ratio: toNumber(terms.inputRatio),
    output_ratio: toNumber(terms.outputRatio),
    saved: of.full - of.quota,
    ...(missing > 0 && { missing }),
    ...(duplicates > 0 && { duplicates }),
    ...(of.counted > 0 && { counted: of.counted }),
    ...(over > 0 && { over_deposit: over }),
    ...(batch.isShort === true && { short_results: true }),
  };
}

function buildPriceDetail({ channelId, terms: { groupRatio } }: SettledBatch, { of, terms }: ModelPart): object {
  const { price } = terms;
  const isCall = price.kind === "call";
  return {
    model_ratio: isCall ? 0 : price.modelRatio,
    completion_ratio: isCall ? 0 : price.completionRatio,
    group_ratio: Number(groupRatio),
    model_price: isCall ? price.modelPrice : -1,
    frt: NO_FIRST_TOKEN,
    ...(price.kind === "tokens" && buildCacheDetail(of, price)),
    ...(of.reasoningTokens > 0 && { reasoning_tokens: of.reasoningTokens }),
    ...(Object.keys(of.toolCalls).length > 0 && { tool_calls: of.toolCalls }),
    ...(price.isSelfUse && { self_use: true }),
    usage_source: findSource(of),
    end_reason: "stop",
    admin_info: { use_channel: [String(channelId)] },
  };
}

function buildCacheDetail({ cachedTokens, cacheWriteTokens }: ModelSums, price: TokenRates): object {
  return {
    ...(cachedTokens > 0 && { cache_tokens: cachedTokens, cache_ratio: price.cacheRatio }),
    ...(cacheWriteTokens > 0 && {
      cache_creation_tokens: cacheWriteTokens,
      cache_creation_ratio: price.cacheWriteRatio,
    }),
  };
}

/** `frt` of answers that had no first token of their own. */
const NO_FIRST_TOKEN = -1000;

function findSource({ counted, succeeded }: ModelSums): "upstream" | "counted" | "mixed" {
  if (counted === 0) return "upstream";
  return counted === succeeded ? "counted" : "mixed";
}
