import type { Kysely } from "kysely";
import { recordEvent } from "../../events/record-event.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Schema } from "../../storage/tables/schema.ts";

interface Visit {
  readonly userId: number;
  readonly ip: string;
  readonly userAgent: string;
}

/** A person's first sign-ins happen in this time after the account was made, and surprise no one. */
const NEW_ACCOUNT_SECONDS = 3_600;
const MAX_AGENT_CHARACTERS = 200;

/** Records that an account is about to be signed in to from a browser that has never done so. */
export async function recordNewDevice(db: Kysely<Schema>, clock: Clock, { userId, ip, userAgent }: Visit) {
  const person = db.selectFrom("users").select(["username", "created_at"]).where("id", "=", userId);
  const user = await person.executeTakeFirst();
  if (!user || seconds(clock) - user.created_at < NEW_ACCOUNT_SECONDS) return;
  const atMs = clock.now();
  await recordEvent(db, {
    type: "signin.new_device",
    atMs,
    accountId: userId,
    userId,
    dedupKey: `signin.new_device:${userId}:${atMs}`,
    data: { username: user.username, address: ip, agent: userAgent.slice(0, MAX_AGENT_CHARACTERS) },
  });
}
