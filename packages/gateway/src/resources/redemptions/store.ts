import { REDEMPTION_STATUS, type Redemption } from "@fairway/wire";
import type { Kysely, Selectable, Transaction, Updateable } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import { buildEtag, type CheckTag } from "../../http/etag.ts";
import { randomText } from "../../lib/ids.ts";
import type { Database } from "../../storage/database.ts";
import { sortedPage, type PageQuery } from "../../storage/sorted-page.ts";
import { beginningWith, likeAnyCase } from "../../storage/like.ts";
import type { RedemptionTable, Schema } from "../../storage/tables/schema.ts";
import { transact } from "../../storage/transaction.ts";

export interface RedemptionStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export interface RedemptionQuery extends PageQuery {
  readonly keyword: string;
  readonly status: readonly number[];
}

export interface NewCodes {
  readonly userId: number;
  readonly name: string;
  readonly quota: number;
  readonly count: number;
}

export type RedemptionStore = ReturnType<typeof createRedemptionStore>;

const CODE_LENGTH = 32;
const HEX = "0123456789abcdef";
const SORTABLE = ["id", "name", "status", "quota", "created_time", "redeemed_time"] as const;

export function createRedemptionStore({ database: { db }, clock }: RedemptionStoreDeps) {
  const matching = ({ keyword, status }: RedemptionQuery) => {
    const rows = db.selectFrom("redemptions").where("deleted_at", "is", null);
    const narrowed = status.length > 0 ? rows.where("status", "in", status) : rows;
    if (keyword === "") return narrowed;
    const id = /^\d{1,15}$/.test(keyword) ? Number(keyword) : 0;
    return narrowed.where((eb) => eb.or([likeAnyCase("name", beginningWith(keyword)), eb("id", "=", id)]));
  };

  const get = async (id: number): Promise<Redemption | undefined> => {
    const row = db.selectFrom("redemptions").selectAll().where("id", "=", id).where("deleted_at", "is", null);
    const found = await row.executeTakeFirst();
    return found && toRedemption(found);
  };

  return {
    get,

    async page(query: RedemptionQuery): Promise<{ rows: Redemption[]; total: number }> {
      const { rows, total } = await sortedPage(matching(query), SORTABLE, query);
      return { rows: rows.map(toRedemption), total };
    },

    /** Creates all codes or none. */
    async create({ userId, name, quota, count }: NewCodes): Promise<string[]> {
      const codes = Array.from({ length: count }, () => randomText(CODE_LENGTH, HEX));
      const shared = { user_id: userId, status: REDEMPTION_STATUS.unused, name, quota, deleted_at: null };
      const rows = codes.map((key) => ({ ...shared, key, created_time: seconds(clock) }));
      await transact(db, (trx) => trx.insertInto("redemptions").values(rows).execute());
      return codes;
    },

    /** Changes an unused code; returns false if it is used or no longer exists. */
    change: (id: number, values: Updateable<RedemptionTable>, check?: CheckTag): Promise<boolean> =>
      transact(db, async (trx) => {
        const open = (change: Updateable<RedemptionTable>) =>
          trx
            .updateTable("redemptions")
            .set(change)
            .where("id", "=", id)
            .where("status", "<>", REDEMPTION_STATUS.used)
            .where("deleted_at", "is", null)
            .executeTakeFirstOrThrow();
        if (check) await checkLocked(trx, id, check);
        return (await open(values)).numUpdatedRows > 0n;
      }),

    ...removals(db, clock),
  };
}

function removals(db: Kysely<Schema>, clock: Clock) {
  return {
    async remove(id: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable("redemptions")
        .set({ deleted_at: seconds(clock) })
        .where("id", "=", id)
        .where("deleted_at", "is", null)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },

    /** Removes codes that can no longer be redeemed; returns their number. */
    async removeInvalid(): Promise<number> {
      const { numUpdatedRows } = await db
        .updateTable("redemptions")
        .set({ deleted_at: seconds(clock) })
        .where("status", "<>", REDEMPTION_STATUS.unused)
        .where("deleted_at", "is", null)
        .executeTakeFirstOrThrow();
      return Number(numUpdatedRows);
    },
  };
}

/** Locks the row until the end of the transaction. */
async function checkLocked(trx: Transaction<Schema>, id: number, check: CheckTag): Promise<void> {
  await trx
    .updateTable("redemptions")
    .set((eb) => ({ status: eb.ref("status") }))
    .where("id", "=", id)
    .execute();
  const row = await trx.selectFrom("redemptions").selectAll().where("id", "=", id).executeTakeFirst();
  if (row) check(redemptionTag(row));
}

export function redemptionTag({ name, status, quota }: Pick<Redemption, "name" | "status" | "quota">): string {
  return buildEtag({ name, status, quota });
}

function toRedemption(row: Selectable<RedemptionTable>): Redemption {
  const { deleted_at: _, ...rest } = row;
  return { ...rest, count: 0, DeletedAt: null };
}
