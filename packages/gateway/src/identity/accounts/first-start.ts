import { setTimeout as pause } from "node:timers/promises";
import { ACCOUNT_KIND, ROLE } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { randomText } from "../../lib/ids.ts";
import { isLoopback } from "../../lib/net/ip.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { transact } from "../../storage/transaction.ts";
import { accountRow } from "./accounts.ts";
import { insertFirstAccount } from "./first-account.ts";
import { insertFirstOptions } from "./first-options.ts";
import type { Passwords } from "../passwords/passwords.ts";

export const ROOT_NAME = "root";
export const DEFAULT_PASSWORD = "123456";
const RANDOM_PASSWORD_CHARS = 20;
const WAIT_MS = 500;

export interface FirstStartDeps {
  readonly database: Database;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Address that the server listens on. */
  readonly host: string;
  readonly rootPassword: Secret | undefined;
  /** True if the console asks the user to create the first account instead. */
  readonly hasWizard: boolean;
  /** The token that the setup screen requires; without one, the screen works only from this machine. */
  readonly setupToken: Secret | undefined;
  /** The number of retries that a new database starts with. */
  readonly firstRetries: number;
}

/** Thrown if other machines could reach the server with the well-known default password. */
export class DefaultPasswordError extends Error {
  override readonly name = "DefaultPasswordError";
}

/** Thrown if the first visitor who reaches the server would own it. */
export class OpenSetupError extends Error {
  override readonly name = "OpenSetupError";
}

export interface FirstStart {
  /** Set if a random password was just generated; it is printed once and never stored. */
  readonly madePassword: string | undefined;
  readonly hasDefaultPassword: boolean;
}

/**
 * Creates the super administrator of an empty database; throws DefaultPasswordError and OpenSetupError. Safe on several
 * replicas at once.
 */
export async function firstStart(deps: FirstStartDeps): Promise<FirstStart> {
  const { database, log, host } = deps;
  const isFresh = !(await hasUsers(database));
  if (isFresh && deps.hasWizard && !deps.setupToken && !isLoopback(host)) {
    throw new OpenSetupError(
      `the set-up screen on ${host} would give the installation to the first visitor: set FAIRWAY_SETUP_TOKEN, or start on 127.0.0.1`,
    );
  }
  const made = isFresh && !deps.hasWizard ? await createRoot(deps) : undefined;
  if (!isFresh || !deps.hasWizard) await markSetUp(deps);
  const hasDefaultPassword = await usesDefaultPassword(deps);
  if (hasDefaultPassword && !isLoopback(host)) {
    throw new DefaultPasswordError(
      `the account ${ROOT_NAME} still has the default password, so the gateway does not listen on ${host}: ` +
        "start it on 127.0.0.1 and change the password",
    );
  }
  if (hasDefaultPassword) log.warn("the account root has the default password 123456: change it in the console");
  return { madePassword: made, hasDefaultPassword };
}

/** Waits for the first account, in processes that leave its creation to another process. */
export async function untilPrepared({ database, log }: Pick<FirstStartDeps, "database" | "log">): Promise<void> {
  for (let isLogged = false; !(await hasUsers(database)); isLogged = true) {
    if (!isLogged) log.info("waiting for the account root, which `fairway-gateway migrate` makes");
    await pause(WAIT_MS);
  }
}

async function hasUsers({ db }: Database): Promise<boolean> {
  return (
    (await db.selectFrom("users").select("id").where("kind", "=", ACCOUNT_KIND.person).limit(1).executeTakeFirst()) !==
    undefined
  );
}

/** Creates the account; returns its password if it was generated. */
async function createRoot(deps: FirstStartDeps): Promise<string | undefined> {
  const { password, isMade } = rootPassword(deps);
  const row = accountRow({
    username: ROOT_NAME,
    passwordHash: await deps.passwords.hash(password),
    createdAt: seconds(deps.clock),
    displayName: "Root User",
    role: ROLE.root,
  });
  try {
    const { database, firstRetries: retries } = deps;
    await transact(database.db, async (trx) => {
      await insertFirstAccount(trx, row);
      await insertFirstOptions(trx, database.kind, { retries, createdAt: row.created_at });
    });
  } catch (cause) {
    // Another replica started at the same time and was faster.
    if (isDuplicate(cause)) return undefined;
    throw cause;
  }
  deps.log.info("created the super administrator", { username: ROOT_NAME });
  return isMade ? password : undefined;
}

function rootPassword({ rootPassword: given, host, database }: FirstStartDeps): { password: string; isMade: boolean } {
  if (given) return { password: given.reveal(), isMade: false };
  if (database.kind === "sqlite" && isLoopback(host)) return { password: DEFAULT_PASSWORD, isMade: false };
  return { password: randomText(RANDOM_PASSWORD_CHARS), isMade: true };
}

async function usesDefaultPassword({ database, passwords }: FirstStartDeps): Promise<boolean> {
  const roots = await database.db
    .selectFrom("users")
    .select("password")
    .where("role", "=", ROLE.root)
    .where("deleted_at", "is", null)
    .limit(10)
    .execute();
  for (const { password } of roots) {
    if ((await passwords.verify(password, DEFAULT_PASSWORD)).isMatch) return true;
  }
  return false;
}

async function markSetUp({ database, clock, version }: FirstStartDeps): Promise<void> {
  await transact(database.db, async (trx) => {
    if (await trx.selectFrom("setups").select("id").limit(1).executeTakeFirst()) return;
    await trx
      .insertInto("setups")
      .values({ version, initialized_at: seconds(clock) })
      .execute();
  });
}
