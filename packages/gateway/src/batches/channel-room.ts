import { list, object, text } from "../dialects/core/read.ts";
import { AppError } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import { parseObject, type JsonObject } from "../lib/text/json.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import type { Database } from "../storage/database.ts";
import type { BatchPhase } from "../storage/tables/schema-batches.ts";
import type { ModelEstimate } from "./estimate-batch.ts";
import type { BatchDeps } from "./types.ts";

/** How much of a channel batches may use at once; undefined = no limit. */
interface RoomLimits {
  readonly maxOpen: number | undefined;
  /** Estimated input tokens of all open batches. */
  readonly maxTokens: number | undefined;
}

/** What a channel's open batches use. */
interface RoomUse {
  open: number;
  tokens: number;
}

/** Returns the limits of a channel's setting; undefined if it has none. */
export function readRoomLimits({ setting }: Pick<ChannelRecord, "setting">): RoomLimits | undefined {
  const [maxOpen, maxTokens] = [readLimit(setting["batch_max_open"]), readLimit(setting["batch_max_tokens"])];
  return maxOpen === undefined && maxTokens === undefined ? undefined : { maxOpen, maxTokens };
}

function readLimit(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** True if the channel can never take a batch with so many input tokens, however few others are open. */
export function isTooLarge(channel: Pick<ChannelRecord, "setting">, tokens: number): boolean {
  return tokens > (readRoomLimits(channel)?.maxTokens ?? Infinity);
}

/** The error for a batch that is larger than the room of every channel for it. */
export function refuseTooLarge(tokens: number, maxTokens: number): AppError {
  return new AppError("unsupported_by_channel", {
    message: `This batch has about ${tokens} input tokens, and no channel for it takes more than ${maxTokens} in open batches: split it.`,
  });
}

const RETRY_FULL_MS = 300_000;

/** The error while every channel for a batch has as many open ones as it may. */
export function refuseFull(): AppError {
  return new AppError("batch_queue_full", { retryAfterMs: RETRY_FULL_MS });
}

/** Phases in which an upstream has work to do. */
const RUNNING: readonly BatchPhase[] = ["creating", "open"];

type Read = Pick<Database, "db">;

async function readUses({ db }: Read, channelIds: readonly number[]): Promise<ReadonlyMap<number, RoomUse>> {
  const uses = new Map<number, RoomUse>();
  if (channelIds.length === 0) return uses;
  const open = db.selectFrom("batches").select(["channel_id", "models"]);
  for (const row of await open.where("channel_id", "in", channelIds).where("phase", "in", RUNNING).execute()) {
    const use = uses.get(row.channel_id) ?? { open: 0, tokens: 0 };
    use.open++;
    use.tokens += countTokens(row);
    uses.set(row.channel_id, use);
  }
  return uses;
}

/** Returns the estimated input tokens of a batch. */
function countTokens({ models }: { readonly models: string }): number {
  const parts = Object.values(JSON.parse(models) as Record<string, ModelEstimate>);
  return parts.reduce((all, { promptTokens }) => all + promptTokens, 0);
}

function isFull({ maxOpen = Infinity, maxTokens = Infinity }: RoomLimits, use: RoomUse, tokens: number): boolean {
  return use.open >= maxOpen || use.tokens + tokens > maxTokens;
}

/** Upstreams say so in a batch that has failed, when they have more tokens waiting than they allow. */
const QUEUE_FULL = "token_limit_exceeded";
const REST_SECONDS = 600;

async function findResting(
  { database: { db }, clock }: Pick<BatchDeps, "database" | "clock">,
  channelIds: readonly number[],
): Promise<readonly number[]> {
  if (channelIds.length === 0) return [];
  const ended = db.selectFrom("batches").select(["channel_id", "wire"]).where("channel_id", "in", channelIds);
  const recent = ended
    .where("phase", "in", ["ended", "settled"])
    .where("ended_at", ">", seconds(clock) - REST_SECONDS)
    .where("total", ">", 0)
    .where("succeeded", "=", 0);
  return (await recent.execute()).filter(({ wire }) => namesFullQueue(wire)).map(({ channel_id: id }) => id);
}

function namesFullQueue(wire: string): boolean {
  const errors = object(parseObject(wire) as JsonObject | undefined, "errors");
  return list(errors, "data").some((one) => text(one as JsonObject, "code") === QUEUE_FULL);
}

/** Returns the channels that have no room for a batch of so many input tokens, by their own limits or their upstream's. */
export async function findFullChannels(
  channels: readonly ChannelRecord[],
  tokens: number,
  deps: Pick<BatchDeps, "database" | "clock">,
): Promise<Set<number>> {
  const full = new Set(
    await findResting(
      deps,
      channels.map(({ id }) => id),
    ),
  );
  const limited = channels.flatMap((channel) => {
    const limits = readRoomLimits(channel);
    return limits && !full.has(channel.id) ? [{ id: channel.id, limits }] : [];
  });
  const uses = await readUses(
    deps.database,
    limited.map(({ id }) => id),
  );
  for (const { id, limits } of limited)
    if (isFull(limits, uses.get(id) ?? { open: 0, tokens: 0 }, tokens)) full.add(id);
  return full;
}

interface NewBatch {
  readonly channel_id: number;
  readonly models: string;
}

/** Throws `batch_queue_full` if a channel has no room for one more batch. Its row must be locked. */
export async function requireRoom(read: Read, row: NewBatch, limits: RoomLimits): Promise<void> {
  const use = (await readUses(read, [row.channel_id])).get(row.channel_id) ?? { open: 0, tokens: 0 };
  if (isFull(limits, use, countTokens(row))) throw refuseFull();
}

/** A batch of a file cannot go to another channel than the one that stores the file. */
export async function requireFileRoom(
  channel: ChannelRecord,
  tokens: number,
  deps: Pick<BatchDeps, "database" | "clock">,
): Promise<void> {
  if (isTooLarge(channel, tokens)) throw refuseTooLarge(tokens, readRoomLimits(channel)?.maxTokens ?? 0);
  if ((await findFullChannels([channel], tokens, deps)).size > 0) throw refuseFull();
}
