import type { AuditRow } from "@fairway/wire";
import type { Insertable } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";
import type { AuditLogTable } from "../../storage/tables/schema.ts";

export interface AuditQuery {
  /** 0 or "" = any; the same holds for the other members. */
  readonly user_id: number;
  readonly username: string;
  readonly action: string;
  readonly target: string;
  /** Epoch seconds. */
  readonly start_timestamp: number;
  readonly end_timestamp: number;
  readonly offset: number;
  readonly limit: number;
}

export type AuditEntry = Omit<Insertable<AuditLogTable>, "id" | "created_at">;

export type AuditOutcome = Pick<AuditEntry, "target" | "old_value" | "new_value">;

export type AuditStore = ReturnType<typeof createAuditStore>;

interface AuditStoreDeps {
  /** May be a transaction, so that rows are committed together with its other changes. */
  readonly database: Pick<Database, "db">;
  readonly clock: Clock;
}

/** Creates the SQL of the audit log. */
export function createAuditStore({ database: { db }, clock }: AuditStoreDeps) {
  return {
    /** Inserts a row and returns its id. */
    add: (entry: AuditEntry): Promise<number> => insertRow(db, "audit_log", { ...entry, created_at: seconds(clock) }),

    complete: async (id: number, outcome: AuditOutcome): Promise<void> => {
      await db.updateTable("audit_log").set(outcome).where("id", "=", id).execute();
    },

    /** Removes the row of a write that was refused. */
    withdraw: async (id: number): Promise<void> => {
      await db.deleteFrom("audit_log").where("id", "=", id).execute();
    },

    list: async (query: AuditQuery): Promise<{ readonly rows: AuditRow[]; readonly total: number }> => {
      let matching = db.selectFrom("audit_log");
      if (query.user_id !== 0) matching = matching.where("user_id", "=", query.user_id);
      for (const column of ["username", "action", "target"] as const) {
        if (query[column] !== "") matching = matching.where(column, "=", query[column]);
      }
      if (query.start_timestamp > 0) matching = matching.where("created_at", ">=", query.start_timestamp);
      if (query.end_timestamp > 0) matching = matching.where("created_at", "<=", query.end_timestamp);
      const count = await matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      const page = matching.selectAll().orderBy("id", "desc").limit(query.limit).offset(query.offset);
      return { rows: await page.execute(), total: Number(count.total) };
    },
  };
}
