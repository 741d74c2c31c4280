import { channelObjects, channelObjectsRebind, type StoredAccount } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import type { BatchPhase } from "../../storage/tables/schema-batches.ts";
import { transact } from "../../storage/transaction.ts";

export interface AccountRoutesDeps {
  readonly database: Database;
  /** Returns the marks of a channel's keys in their order; undefined if there is no such channel. */
  readonly listMarks: (channelId: number) => readonly string[] | undefined;
  /** Counts the requests that this process serves through a channel, by the marks of their keys. */
  readonly countRunning: (channelId: number) => ReadonlyMap<string, number>;
}

/** Phases in which a batch is still asked about. */
const UNSETTLED: readonly BatchPhase[] = ["creating", "open", "ended", "stuck"];

/** Which key opens the account of files and batches, after keys were replaced. */
export function storedAccountRoutes(deps: AccountRoutesDeps): Route[] {
  const requireMarks = (id: number): readonly string[] => {
    const marks = deps.listMarks(id);
    if (!marks) throw new Refusal("channel_not_found");
    return marks;
  };
  return [
    implement(channelObjects, ({ params }) => listAccounts(params.id, requireMarks(params.id), deps)),
    implement(channelObjectsRebind, ({ params, body }) => {
      const { from_mark: from, to_mark: to } = body;
      if (!requireMarks(params.id).includes(to))
        throw new Refusal("account_mark_unknown", { values: { mark: to.slice(0, 16) } });
      return rebind(params.id, { from, to }, deps);
    }),
  ];
}

async function listAccounts(
  channelId: number,
  marks: readonly string[],
  { database: { db }, countRunning }: AccountRoutesDeps,
): Promise<StoredAccount[]> {
  const files = await db
    .selectFrom("upstream_objects")
    .select((eb) => ["key_mark", eb.fn.countAll<number>().as("count")])
    .where("channel_id", "=", channelId)
    .where("kind", "=", "file")
    .groupBy("key_mark")
    .execute();
  const batches = await db
    .selectFrom("batches")
    .select((eb) => ["key_mark", eb.fn.countAll<number>().as("count")])
    .where("channel_id", "=", channelId)
    .where("phase", "in", UNSETTLED)
    .groupBy("key_mark")
    .execute();
  const caches = await db
    .selectFrom("upstream_caches")
    .select((eb) => ["key_mark", eb.fn.countAll<number>().as("count")])
    .where("channel_id", "=", channelId)
    .where("phase", "=", "open")
    .groupBy("key_mark")
    .execute();
  const known = [...new Set([...marks, ...[...files, ...caches, ...batches].map(({ key_mark: mark }) => mark)])];
  const count = (rows: readonly { readonly key_mark: string; readonly count: number }[], mark: string) =>
    Number(rows.find((row) => row.key_mark === mark)?.count ?? 0);
  const running = countRunning(channelId);
  return known.map((mark) => ({
    mark,
    key_index: marks.indexOf(mark),
    files: count(files, mark),
    caches: count(caches, mark),
    batches: count(batches, mark),
    running: running.get(mark) ?? 0,
  }));
}

interface Rebinding {
  readonly from: string;
  readonly to: string;
}

/** Marks that no key can have name nothing, and some databases refuse to compare them. */
const MARK = /^[\w+/=-]{1,16}$/;

async function rebind(
  channelId: number,
  { from, to }: Rebinding,
  { database }: AccountRoutesDeps,
): Promise<{ readonly files: number; readonly batches: number }> {
  if (!MARK.test(from)) return { files: 0, batches: 0 };
  return transact(database.db, async (trx) => {
    const files = await trx
      .updateTable("upstream_objects")
      .set({ key_mark: to })
      .where("channel_id", "=", channelId)
      .where("key_mark", "=", from)
      .executeTakeFirst();
    await trx
      .updateTable("upstream_caches")
      .set({ key_mark: to })
      .where("channel_id", "=", channelId)
      .where("key_mark", "=", from)
      .execute();
    await trx
      .updateTable("response_owners")
      .set({ key_mark: to })
      .where("channel_id", "=", channelId)
      .where("key_mark", "=", from)
      .execute();
    const batches = await trx
      .updateTable("batches")
      .set({ key_mark: to })
      .where("channel_id", "=", channelId)
      .where("key_mark", "=", from)
      .where("phase", "in", UNSETTLED)
      .executeTakeFirst();
    return { files: Number(files.numUpdatedRows), batches: Number(batches.numUpdatedRows) };
  });
}
