import { createHash, randomBytes } from "node:crypto";
import type { TeamRole } from "@fairway/wire";
import type { Kysely } from "kysely";
import { Refusal } from "../lib/refusal.ts";
import { insertRow } from "../storage/inserts.ts";
import type { Schema } from "../storage/tables/schema.ts";

type Db = Kysely<Schema>;

const SECRET_BYTES = 32;

export interface NewInvitation {
  readonly teamId: number;
  /** Undefined = a link that anyone can use. */
  readonly email: string | undefined;
  readonly role: TeamRole;
  readonly maxUses: number;
  /** Epoch seconds, like `now`. */
  readonly expiresAt: number;
  readonly createdBy: number;
  readonly now: number;
}

/** Stores an invitation; returns its code, whose hash alone is stored. */
export async function createInvitation(db: Db, invitation: NewInvitation): Promise<{ id: number; code: string }> {
  const code = randomBytes(SECRET_BYTES).toString("base64url");
  const id = await insertRow(db, "team_invitations", {
    team_id: invitation.teamId,
    email: invitation.email ?? null,
    role: invitation.role,
    secret_hash: hashCode(code),
    max_uses: invitation.maxUses,
    uses: 0,
    expires_at: invitation.expiresAt,
    created_by: invitation.createdBy,
    created_at: invitation.now,
    revoked_at: null,
  });
  return { id, code };
}

/** Returns the invitations that can still be used, newest first. */
export function listInvitations(db: Db, teamId: number, now: number) {
  return db
    .selectFrom("team_invitations")
    .select(["id", "email", "role", "max_uses", "uses", "expires_at", "created_by", "created_at"])
    .where("team_id", "=", teamId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .whereRef("uses", "<", "max_uses")
    .orderBy("id", "desc")
    .execute();
}

/** Returns false if the team has no such invitation. */
export async function revokeInvitation(db: Db, teamId: number, { id, now }: { id: number; now: number }) {
  const open = db.updateTable("team_invitations").set({ revoked_at: now }).where("revoked_at", "is", null);
  const { numUpdatedRows } = await open.where("team_id", "=", teamId).where("id", "=", id).executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

export interface UsedInvitation {
  readonly teamId: number;
  readonly email: string | null;
  readonly role: TeamRole;
  readonly createdBy: number;
}

/**
 * Uses an invitation once, in the transaction of the membership: of two calls at the same time for the last use, one
 * is refused. Unknown, expired, revoked and used up are the same `team_invitation_invalid`.
 */
export async function useInvitation(trx: Db, code: string, now: number): Promise<UsedInvitation> {
  const hash = hashCode(code);
  const used = trx.updateTable("team_invitations").set((eb) => ({ uses: eb("uses", "+", 1) }));
  const { numUpdatedRows } = await used
    .where("secret_hash", "=", hash)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .whereRef("uses", "<", "max_uses")
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw new Refusal("team_invitation_invalid", { field: "code" });
  const row = await trx
    .selectFrom("team_invitations")
    .select(["team_id", "email", "role", "created_by"])
    .where("secret_hash", "=", hash)
    .executeTakeFirstOrThrow();
  return { teamId: row.team_id, email: row.email, role: row.role as TeamRole, createdBy: row.created_by };
}

function hashCode(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
