import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";

export interface Owned {
  readonly kind: string;
  readonly name: string;
  readonly resource_id: number;
  readonly owner: string;
  readonly fields: readonly string[];
  /** What to do if no document describes the resource any more. */
  readonly deletionPolicy: "Delete" | "Disable" | "Orphan";
  /** For option sets: the higher priority wins. */
  readonly priority?: number;
  /** Epoch seconds until which a channel that was enabled or disabled by hand stays as it is. */
  readonly overrideUntil?: number;
  /** Hashes of earlier values of its secrets. */
  readonly pastSecrets?: readonly string[];
  /** True if options return to their defaults when the set is removed. */
  readonly prune?: boolean;
}

type OwnershipDetails = Pick<
  Owned,
  "fields" | "deletionPolicy" | "priority" | "prune" | "overrideUntil" | "pastSecrets"
>;

const NOTHING: OwnershipDetails = { fields: [], deletionPolicy: "Orphan" };

export type OwnershipStore = ReturnType<typeof createOwnershipStore>;

/** Creates the SQL of the ownership of fields. */
export function createOwnershipStore({
  database: { db },
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}) {
  return {
    all: async (): Promise<Owned[]> => {
      const rows = await db.selectFrom("managed_resources").selectAll().orderBy("kind").orderBy("name").execute();
      return rows.map(({ kind, name, resource_id, owner, fields }) => ({
        kind,
        name,
        resource_id,
        owner,
        ...(fields === null ? NOTHING : (JSON.parse(fields) as OwnershipDetails)),
      }));
    },
    keep: async ({
      fields,
      deletionPolicy,
      priority,
      prune,
      overrideUntil,
      pastSecrets,
      ...owned
    }: Owned): Promise<void> => {
      const details: OwnershipDetails = {
        fields,
        deletionPolicy,
        ...(priority !== undefined && { priority }),
        ...(prune !== undefined && { prune }),
        ...(overrideUntil !== undefined && { overrideUntil }),
        ...(pastSecrets !== undefined && { pastSecrets }),
      };
      const change = {
        resource_id: owned.resource_id,
        owner: owned.owner,
        fields: JSON.stringify(details),
        updated_at: seconds(clock),
      };
      const { numUpdatedRows } = await db
        .updateTable("managed_resources")
        .set(change)
        .where("kind", "=", owned.kind)
        .where("name", "=", owned.name)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n)
        await db
          .insertInto("managed_resources")
          .values({ kind: owned.kind, name: owned.name, spec_hash: "", ...change })
          .execute();
    },
    forget: async (kind: string, name: string): Promise<void> => {
      await db.deleteFrom("managed_resources").where("kind", "=", kind).where("name", "=", name).execute();
    },
  };
}
