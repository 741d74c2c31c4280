import type { OldKey, RotatedKey } from "@fairway/wire";
import type { Transaction } from "kysely";
import type { CheckTag } from "../../http/etag.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { bump } from "../../storage/revisions.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import { VERSION } from "../../version.ts";
import { listWorkingKeys, noteOldKeys, replaceKey, ROTATION_COLUMNS, type RotationRow } from "./replace-key.ts";
import type { TokenStoreDeps } from "./store.ts";
import { findTokenRow, tokenTag, toToken } from "./token-rows.ts";

/** A replica that reported within this time may still run. */
const RUNNING_SECONDS = 90;

export interface RotationRequest {
  readonly userId: number;
  readonly id: number;
  /** 0 = the replaced key ends at once. */
  readonly graceSeconds: number;
  /** Name of the caller. */
  readonly by: string;
  readonly check?: CheckTag | undefined;
}

export type TokenRotations = ReturnType<typeof createTokenRotations>;

/** Creates the SQL of replaced keys: the current key is in `tokens`, the ones before it are in `token_keys`. */
export function createTokenRotations({ database: { db, kind }, vault, clock, announce, tokens }: TokenStoreDeps) {
  const publish = async (id: number) => {
    tokens.dropToken(id);
    await announce("tokens");
  };

  return {
    /**
     * Gives a token a new key; undefined if the owner has no such token. Of two calls that read the same key, the
     * second throws `entity_changed`: otherwise the first caller would hold a key that is already replaced.
     */
    async rotate({ userId, id, graceSeconds, by, check }: RotationRequest): Promise<RotatedKey | undefined> {
      const now = seconds(clock);
      const seen = await selectForRotation(db, userId, id);
      if (!seen) return undefined;
      if (graceSeconds > 0) await requireOneVersion(db, now);
      const rotated = await transact(db, async (trx) => {
        await rawOn(trx, kind).run("update tokens set status = status where id = ?", [id]);
        const row = await selectForRotation(trx, userId, id);
        if (!row) return undefined;
        if (row.key_hash !== seen.key_hash) throw new Refusal("entity_changed");
        if (check) await checkRow(trx, row, check);
        return replaceKey(trx, row, { kind, vault, now, graceSeconds, by });
      });
      if (rotated) await publish(id);
      return rotated;
    },

    /** Lists the replaced keys that work; undefined if the owner has no such token. */
    async listOld(userId: number, id: number): Promise<OldKey[] | undefined> {
      return (await selectForRotation(db, userId, id)) && listWorkingKeys(db, id, seconds(clock));
    },

    /** Ends a replaced key; returns false if the token has none with that id that works. */
    async endOld(userId: number, id: number, keyId: number): Promise<boolean> {
      const now = seconds(clock);
      const isEnded = await transact(db, async (trx) => {
        await rawOn(trx, kind).run("update tokens set status = status where id = ?", [id]);
        if (!(await selectForRotation(trx, userId, id))) return false;
        const keys = trx.updateTable("token_keys").set({ expires_at: now });
        const ended = keys.where("id", "=", keyId).where("token_id", "=", id).where("expires_at", ">", now);
        if ((await ended.executeTakeFirst()).numUpdatedRows === 0n) return false;
        await noteOldKeys(trx, id, await listWorkingKeys(trx, id, now));
        await bump(rawOn(trx, kind), kind, "tokens");
        return true;
      });
      if (isEnded) await publish(id);
      return isEnded;
    },
  };
}

type Reader = Pick<Transaction<Schema>, "selectFrom">;

function selectForRotation(db: Reader, userId: number, id: number): Promise<RotationRow | undefined> {
  const rows = db.selectFrom("tokens").select(ROTATION_COLUMNS).where("id", "=", id).where("user_id", "=", userId);
  return rows.where("deleted_at", "is", null).executeTakeFirst();
}

async function checkRow(db: Reader, { user_id, id }: RotationRow, check: CheckTag): Promise<void> {
  const row = await findTokenRow(db, user_id, id);
  if (row) check(tokenTag(toToken(row, "")));
}

/** Throws `replicas_differ` while a replica runs that may know the current key only. */
async function requireOneVersion(db: Reader, now: number): Promise<void> {
  const running = db
    .selectFrom("replicas")
    .select("instance")
    .where("seen_at", ">", now - RUNNING_SECONDS);
  const other = await running.where("version", "!=", VERSION).limit(1).executeTakeFirst();
  if (other) throw new Refusal("replicas_differ");
}
