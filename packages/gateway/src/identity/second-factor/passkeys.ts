import { PASSKEY_MAX, type Passkey } from "@fairway/wire";
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from "@simplewebauthn/server";
import { randomBytes } from "node:crypto";
import type { Kysely, Transaction } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { insertRow } from "../../storage/inserts.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { lockUser, transact } from "../../storage/transaction.ts";
import type { RelyingParty } from "./relying-party.ts";

export interface PasskeyDeps {
  readonly db: Kysely<Schema>;
  readonly clock: Clock;
  /** Name of this installation, as browsers show it. */
  readonly name: () => string;
}

interface Owner {
  readonly userId: number;
  readonly username: string;
}

/** Writes what belongs to a change, in its transaction. */
type WriteAlso = (trx: Transaction<Schema>) => Promise<unknown>;

interface NewPasskey {
  readonly name: string;
  readonly response: unknown;
  readonly also?: WriteAlso | undefined;
}

type BrowserObject = Record<string, unknown>;

/** Passkeys (WebAuthn) with user verification by the device: they replace password and second factor. */
export interface Passkeys {
  list(userId: number): Promise<Passkey[]>;
  /** Throws `too_many_passkeys`. */
  creationOptions(owner: Owner, party: RelyingParty): Promise<BrowserObject>;
  /** Throws `too_many_passkeys`, `passkey_already_registered` or `passkey_not_verified`. */
  register(owner: Owner, party: RelyingParty, made: NewPasskey): Promise<Passkey>;
  /** Returns false if the user has no passkey of that id. */
  rename(userId: number, id: number, name: string): Promise<boolean>;
  remove(userId: number, id: number, also?: WriteAlso): Promise<boolean>;
  loginOptions(party: RelyingParty): Promise<BrowserObject>;
  /** Returns the user whose passkey signed; throws `passkey_not_verified`. */
  verify(party: RelyingParty, response: unknown): Promise<number>;
}

/** Loaded when the first passkey is used, because loading would take most of the start time of the program. */
const webauthn = () => import("@simplewebauthn/server");

/** EdDSA, ES256, RS256: authenticators support these, and they need no experimental feature of the runtime. */
const ALGORITHMS = [-8, -7, -257] as const;
const CHALLENGE_SECONDS = 300;
const CHALLENGE_BYTES = 32;
const LOGIN = "passkey-login";
const REGISTRATION = "passkey-create";

export function createPasskeys(deps: PasskeyDeps): Passkeys {
  const { db } = deps;
  return {
    list: (userId) => db.selectFrom("passkeys").select(VIEW).where("user_id", "=", userId).orderBy("id").execute(),
    async creationOptions(owner, { id: rpID }) {
      const known = await checkCount(db, owner.userId);
      const { generateRegistrationOptions } = await webauthn();
      const options = await generateRegistrationOptions({
        rpName: deps.name(),
        rpID,
        userName: owner.username,
        userID: new TextEncoder().encode(String(owner.userId)),
        challenge: await newChallenge(deps, REGISTRATION, String(owner.userId)),
        timeout: CHALLENGE_SECONDS * 1000,
        excludeCredentials: known.map(({ credential_id: id }) => ({ id })),
        supportedAlgorithmIDs: [...ALGORITHMS],
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      });
      return { ...options };
    },
    register: (owner, party, made) => register(deps, owner, party, made),
    async rename(userId, id, name) {
      const own = db.selectFrom("passkeys").select("id").where("id", "=", id).where("user_id", "=", userId);
      // Checks for the row first, because a database may count no changed row if the name is the same.
      if (!(await own.executeTakeFirst())) return false;
      await db.updateTable("passkeys").set({ name }).where("id", "=", id).where("user_id", "=", userId).execute();
      return true;
    },
    remove: (userId, id, also) =>
      transact(db, async (trx) => {
        const own = trx.deleteFrom("passkeys").where("id", "=", id).where("user_id", "=", userId);
        const isRemoved = (await own.executeTakeFirstOrThrow()).numDeletedRows === 1n;
        if (isRemoved) await also?.(trx);
        return isRemoved;
      }),
    async loginOptions({ id: rpID }) {
      const { generateAuthenticationOptions } = await webauthn();
      const challenge = await newChallenge(deps, LOGIN, "");
      const timeout = CHALLENGE_SECONDS * 1000;
      return { ...(await generateAuthenticationOptions({ rpID, challenge, timeout, userVerification: "required" })) };
    },
    verify: (party, response) => verify(deps, party, response),
  };
}

/** Ends all passkeys of a user, in the caller's transaction. */
export async function endPasskeys(tx: RawTransaction, userId: number): Promise<void> {
  await tx.run("delete from passkeys where user_id = ?", [userId]);
}

const VIEW = ["id", "name", "created_at", "last_used_at"] as const;

async function checkCount(db: PasskeyDeps["db"], userId: number): Promise<{ credential_id: string }[]> {
  const known = await db.selectFrom("passkeys").select("credential_id").where("user_id", "=", userId).execute();
  if (known.length >= PASSKEY_MAX) throw new Refusal("too_many_passkeys", { values: { n: PASSKEY_MAX } });
  return known;
}

/** Stores a challenge in the table of codes, so that any replica may get the answer and only one accepts it. */
async function newChallenge(
  { db, clock }: PasskeyDeps,
  purpose: string,
  owner: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = new Uint8Array(randomBytes(CHALLENGE_BYTES));
  const now = seconds(clock);
  const row = { code_hash: owner, created_at: now, expires_at: now + CHALLENGE_SECONDS };
  await db
    .insertInto("one_time_codes")
    .values({ purpose, subject: Buffer.from(challenge).toString("base64url"), ...row })
    .execute();
  return challenge;
}

/** Returns true once for each challenge of this owner that is not too old. */
function takeChallenge({ db, clock }: PasskeyDeps, purpose: string, owner: string) {
  return async (challenge: string): Promise<boolean> => {
    const taken = await db
      .deleteFrom("one_time_codes")
      .where("purpose", "=", purpose)
      .where("subject", "=", challenge)
      .where("code_hash", "=", owner)
      .where("expires_at", ">", seconds(clock))
      .executeTakeFirstOrThrow();
    return taken.numDeletedRows === 1n;
  };
}

async function register(
  deps: PasskeyDeps,
  { userId }: Owner,
  { id, origin }: RelyingParty,
  made: NewPasskey,
): Promise<Passkey> {
  await checkCount(deps.db, userId);
  const { verifyRegistrationResponse } = await webauthn();
  const found = await verified(() =>
    verifyRegistrationResponse({
      response: made.response as RegistrationResponseJSON,
      expectedChallenge: takeChallenge(deps, REGISTRATION, String(userId)),
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    }),
  );
  const credential = found.registrationInfo?.credential;
  if (!found.verified || !credential) throw new Refusal("passkey_not_verified");
  const view = { name: made.name.trim() || "Passkey", created_at: seconds(deps.clock), last_used_at: 0 };
  try {
    const row = {
      ...view,
      user_id: userId,
      credential_id: credential.id,
      public_key: Buffer.from(credential.publicKey).toString("base64url"),
      counter: credential.counter,
      transports: (credential.transports ?? []).join(",").slice(0, 255),
    };
    const rowId = await transact(deps.db, async (trx) => {
      // Concurrent calls cannot exceed the limit together.
      if (!(await lockUser(trx, userId))) throw new Refusal("account_deleted");
      await checkCount(trx, userId);
      const id = await insertRow(trx, "passkeys", row);
      await made.also?.(trx);
      return id;
    });
    return { id: rowId, ...view };
  } catch (cause) {
    if (isDuplicate(cause)) throw new Refusal("passkey_already_registered", { cause });
    throw cause;
  }
}

async function verify(deps: PasskeyDeps, { id, origin }: RelyingParty, response: unknown): Promise<number> {
  const { db, clock } = deps;
  const credentialId = (response as { readonly id?: unknown } | undefined)?.id;
  if (typeof credentialId !== "string") throw new Refusal("passkey_not_verified");
  const row = await db.selectFrom("passkeys").selectAll().where("credential_id", "=", credentialId).executeTakeFirst();
  if (!row) throw new Refusal("passkey_not_verified");
  const { verifyAuthenticationResponse } = await webauthn();
  const credential: WebAuthnCredential = {
    id: row.credential_id,
    publicKey: new Uint8Array(Buffer.from(row.public_key, "base64url")),
    counter: row.counter,
    transports: row.transports.split(",") as AuthenticatorTransport[],
  };
  const found = await verified(() =>
    verifyAuthenticationResponse({
      response: response as AuthenticationResponseJSON,
      expectedChallenge: takeChallenge(deps, LOGIN, ""),
      expectedOrigin: origin,
      expectedRPID: id,
      credential,
      requireUserVerification: true,
    }),
  );
  if (!found.verified) throw new Refusal("passkey_not_verified");
  const change = { counter: found.authenticationInfo.newCounter, last_used_at: seconds(clock) };
  await db.updateTable("passkeys").set(change).where("id", "=", row.id).execute();
  return row.user_id;
}

/** Runs a check of the library, which throws for any fault of an answer. */
async function verified<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (cause) {
    throw new Refusal("passkey_not_verified", { cause });
  }
}
