import { keyNumber } from "@fairway/wire";
import { parseObject } from "../../../lib/text/json.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { Database } from "../../../storage/database.ts";
import type { BatchPhase } from "../../../storage/tables/schema-batches.ts";
import type { ChannelRow } from "../view.ts";

/** Phases in which a batch still needs its key. */
const RUNNING: readonly BatchPhase[] = ["creating", "open", "ended"];

interface Account {
  readonly channel: Pick<ChannelRow, "id" | "setting">;
  readonly index: number;
  /** Start of the hash of the key. */
  readonly mark: string;
}

/** Throws `channel_key_in_use` if files, caches or batches can only be read with the key. */
export async function requireUnused(db: Database["db"], { channel, index, mark }: Account): Promise<void> {
  if (isOneAccount(channel)) return;
  const batches = await db
    .selectFrom("batches")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("channel_id", "=", channel.id)
    .where("key_mark", "=", mark)
    .where("phase", "in", RUNNING)
    .executeTakeFirstOrThrow();
  const files = await countFiles(db, channel.id, mark);
  if (files === 0 && Number(batches.count) === 0) return;
  const values = { key: String(keyNumber(index)), files: String(files), batches: String(batches.count) };
  throw new Refusal("channel_key_in_use", { field: "index", values });
}

/** True if every key of the channel opens the account that has its files, caches and batches. */
export function isOneAccount({ setting }: Pick<ChannelRow, "setting">): boolean {
  return parseObject(setting ?? "")?.["files_scope"] === "channel";
}

async function countFiles(db: Database["db"], channelId: number, mark: string): Promise<number> {
  const files = await db
    .selectFrom("upstream_objects")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("channel_id", "=", channelId)
    .where("key_mark", "=", mark)
    .where("kind", "=", "file")
    .executeTakeFirstOrThrow();
  const caches = await db
    .selectFrom("upstream_caches")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("channel_id", "=", channelId)
    .where("key_mark", "=", mark)
    .executeTakeFirstOrThrow();
  return Number(files.count) + Number(caches.count);
}
