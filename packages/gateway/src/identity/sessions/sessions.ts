import { createHash, randomBytes } from "node:crypto";
import { ACCOUNT_KIND, readStoredTagLimits, storedLimits, type Page } from "@fairway/wire";
import type { Kysely } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Account } from "../principal.ts";

export const SESSION_COOKIE = "session";
export const SESSION_SECONDS = 30 * 86_400;
const RENEW_AFTER_SECONDS = 86_400;
const MAX_IDLE_STEP_SECONDS = 60;
const VALUE_BYTES = 32;
const MAX_AGENT_CHARS = 255;

/** What an identity provider said when it opened a session, and the operator's rules for such sessions. */
export interface SessionOrigin {
  readonly providerId: number;
  /** The person at the provider. */
  readonly subject: string;
  /** The name of the session at the provider; "" if it has none. */
  readonly sid: string;
  /** Seconds from the sign-in; absent = as long as other sessions. */
  readonly maxSeconds?: number;
  /** Seconds without a call after which the session ends; absent = never. */
  readonly idleSeconds?: number;
  /** True if the sign-in alone is no proof for a change of credentials. */
  readonly isUnproven?: boolean;
  /** Page of the provider for signing out there too. */
  readonly logoutUrl?: string;
}

/** Data that a session stores in addition to its user. */
export interface SessionData {
  /** State of a sign-in with another service; the next member is its time in epoch seconds. */
  readonly oauthState?: string;
  readonly oauthStateAt?: number;
  /** Service that the state was created for; absent if the browser builds the address itself. */
  readonly oauthService?: string;
  readonly oauthVerifier?: string;
  readonly oauthNonce?: string;
  /** Longest time since the person's proof at the provider; 0 = any. */
  readonly oauthMaxAge?: number;
  /**
   * Account that a service has signed in and whose second factor is missing; the next member is the time in epoch
   * seconds.
   */
  readonly factorUser?: number;
  readonly factorAt?: number;
  /** The provider of that sign-in. */
  readonly factorOrigin?: SessionOrigin;
  /** The provider that opened this session. */
  readonly origin?: SessionOrigin;
  /** Invitation code for a later registration. */
  readonly aff?: string;
  /** Epoch seconds of the last human check that the visitor passed. */
  readonly humanAt?: number;
  /** Epoch seconds at which the user was last confirmed after the sign-in. */
  readonly provenAt?: number;
}

export interface Session {
  /** SHA-256 of the cookie's value, hex. */
  readonly hash: string;
  /** 0 = not signed in. */
  readonly userId: number;
  /** Undefined for anonymous sessions and if the row no longer exists. */
  readonly account: Account | undefined;
  readonly data: SessionData;
  readonly createdAt: number;
  readonly renewedAt: number;
  readonly ip: string;
  readonly userAgent: string;
}

export interface NewSession {
  readonly userId: number;
  readonly ip: string;
  readonly userAgent: string;
  readonly data?: SessionData;
  readonly origin?: SessionOrigin | undefined;
}

type Db = Kysely<Schema>;

export interface Sessions {
  /** Finds a session in one query, with the account as it is now; undefined if the value is unknown or expired. */
  find(value: string): Promise<Session | undefined>;
  /** Opens a session; returns the cookie's value, whose hash alone is stored. */
  open(session: NewSession, db?: Db): Promise<string>;
  /** Extends a session by 30 days, at most once a day and never beyond the absolute end; returns whether it did. */
  renew(session: Session): Promise<boolean>;
  setData(hash: string, data: SessionData): Promise<void>;
  end(hash: string): Promise<void>;
  /** Ends every session of a user, or all but one. */
  endAll(userId: number, except?: string, db?: Db): Promise<void>;
  /** Ends one session of a user, identified by the first characters of its hash. */
  endOne(userId: number, id: string): Promise<void>;
  /** Returns sessions, latest first, and their number. */
  list(userId: number, page: Page): Promise<{ readonly rows: Session[]; readonly total: number }>;
  /** Ends what a provider opened for a person, or only its session of that name; returns how many. */
  endOfProvider(providerId: number, person: { readonly subject: string; readonly sid: string }): Promise<number>;
  /** Deletes expired rows; returns how many. */
  prune(): Promise<number>;
}

export interface SessionsDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Every session ends this many days after its sign-in. */
  readonly maxDays?: number | undefined;
}

const DEFAULT_MAX_DAYS = 90;

/** Creates sessions, which are stored on the server: the cookie contains only a random name of a row. */
export function createSessions({ db, clock, maxDays = DEFAULT_MAX_DAYS }: SessionsDeps): Sessions {
  const maxSeconds = maxDays * 86_400;
  /** A renewal extends up to the absolute end. */
  const calculateExpiry = (createdAt: number, origin?: SessionOrigin) => {
    const { maxSeconds: own = maxSeconds, idleSeconds = SESSION_SECONDS } = origin ?? {};
    return Math.min(seconds(clock) + Math.min(SESSION_SECONDS, idleSeconds), createdAt + Math.min(maxSeconds, own));
  };
  return {
    async find(value) {
      const row = await selectSessions(db)
        .where("sessions.id_hash", "=", hashRandomId(value))
        .where("sessions.expires_at", ">", seconds(clock))
        // Old sessions have no absolute end, and the setting may have become shorter.
        .where("sessions.created_at", ">", seconds(clock) - maxSeconds)
        .executeTakeFirst();
      return row && toSession(row);
    },
    async open({ userId, ip, userAgent, data = {}, origin }, trx = db) {
      const value = randomBytes(VALUE_BYTES).toString("base64url");
      const now = seconds(clock);
      const row = {
        id_hash: hashRandomId(value),
        user_id: userId,
        data: JSON.stringify(origin ? { ...data, origin } : data),
        ip,
        user_agent: userAgent.slice(0, MAX_AGENT_CHARS),
        provider_id: origin?.providerId ?? 0,
        idp_subject: origin?.subject ?? "",
        idp_sid: origin?.sid ?? "",
        created_at: now,
        renewed_at: now,
        expires_at: calculateExpiry(now, origin),
      };
      await trx.insertInto("sessions").values(row).execute();
      return value;
    },
    async renew(session) {
      const now = seconds(clock);
      const { origin } = session.data;
      if (now - session.renewedAt < calculateRenewal(origin)) return false;
      const change = { renewed_at: now, expires_at: calculateExpiry(session.createdAt, origin) };
      await db.updateTable("sessions").set(change).where("id_hash", "=", session.hash).execute();
      return true;
    },
    async setData(hash, data) {
      await db
        .updateTable("sessions")
        .set({ data: JSON.stringify(data) })
        .where("id_hash", "=", hash)
        .execute();
    },
    async end(hash) {
      await db.deleteFrom("sessions").where("id_hash", "=", hash).execute();
    },
    async endAll(userId, except = "", trx = db) {
      await trx.deleteFrom("sessions").where("user_id", "=", userId).where("id_hash", "!=", except).execute();
    },
    ...ownSessions({ db, clock }),
  };
}

/** A session that ends when it is idle is renewed often enough to end at the right minute. */
function calculateRenewal(origin: SessionOrigin | undefined): number {
  const idleSeconds = origin?.idleSeconds;
  return idleSeconds === undefined
    ? RENEW_AFTER_SECONDS
    : Math.min(MAX_IDLE_STEP_SECONDS, Math.floor(idleSeconds / 10));
}

function ownSessions({
  db,
  clock,
}: {
  readonly db: Db;
  readonly clock: Clock;
}): Pick<Sessions, "endOne" | "endOfProvider" | "list" | "prune"> {
  return {
    async prune() {
      const answer = await db.deleteFrom("sessions").where("expires_at", "<=", seconds(clock)).executeTakeFirst();
      return Number(answer.numDeletedRows);
    },
    async endOfProvider(providerId, { subject, sid }) {
      let rows = db.deleteFrom("sessions").where("provider_id", "=", providerId);
      if (subject !== "") rows = rows.where("idp_subject", "=", subject);
      if (sid !== "") rows = rows.where("idp_sid", "=", sid);
      if (subject === "" && sid === "") return 0;
      return Number((await rows.executeTakeFirst()).numDeletedRows);
    },
    async endOne(userId, id) {
      if (!/^[0-9a-f]{16,64}$/.test(id)) return;
      const own = db.deleteFrom("sessions").where("user_id", "=", userId);
      await own.where("id_hash", "like", `${id}%`).execute();
    },
    async list(userId, { offset, limit }) {
      const now = seconds(clock);
      const live = db.selectFrom("sessions").where("user_id", "=", userId).where("expires_at", ">", now);
      const { total } = await live.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      const rows = await selectSessions(db)
        .where("sessions.user_id", "=", userId)
        .where("sessions.expires_at", ">", now)
        .orderBy("sessions.renewed_at", "desc")
        .orderBy("sessions.id_hash")
        .offset(offset)
        .limit(limit)
        .execute();
      return { rows: rows.map(toSession), total: Number(total) };
    },
  };
}

/** Returns SHA-256 as hex, under which random ids are stored. */
export function hashRandomId(value: string): string {
  return createHash("sha256").update(value).digest("hex");
}

function selectSessions(db: Db) {
  return db
    .selectFrom("sessions")
    .leftJoin("users", (on) => on.onRef("users.id", "=", "sessions.user_id").on("users.kind", "=", ACCOUNT_KIND.person))
    .select(["sessions.id_hash", "sessions.user_id", "sessions.data", "sessions.ip", "sessions.user_agent"])
    .select(["sessions.created_at", "sessions.renewed_at"])
    .select([
      "users.id as account_id",
      "users.username",
      "users.role",
      "users.status",
      "users.group",
      "users.limits",
      "users.tag_limits",
      "users.deleted_at",
    ]);
}

type Row = Awaited<ReturnType<ReturnType<typeof selectSessions>["execute"]>>[number];

function toSession(row: Row): Session {
  return {
    hash: row.id_hash,
    userId: row.user_id,
    account: toAccount(row),
    data: JSON.parse(row.data) as SessionData,
    createdAt: row.created_at,
    renewedAt: row.renewed_at,
    ip: row.ip,
    userAgent: row.user_agent,
  };
}

/** Returns the account from the columns of a left join with `users`; undefined if there was no row. */
export function toAccount(row: {
  readonly account_id: number | null;
  readonly username: string | null;
  readonly role: number | null;
  readonly status: number | null;
  readonly group: string | null;
  readonly limits?: string | null;
  readonly tag_limits?: string | null;
  readonly deleted_at: number | null;
}): Account | undefined {
  if (row.account_id === null) return undefined;
  return {
    id: row.account_id,
    username: row.username ?? "",
    role: row.role ?? 0,
    status: row.status ?? 0,
    group: row.group ?? "",
    isDeleted: row.deleted_at !== null,
    limits: storedLimits(row.limits),
    tagLimits: readStoredTagLimits(row.tag_limits),
  };
}

/** Ends all sessions of a user but one, in the caller's transaction. */
export async function endSessions(tx: RawTransaction, userId: number, except = ""): Promise<void> {
  await tx.run("delete from sessions where user_id = ? and id_hash <> ?", [userId, except]);
}
