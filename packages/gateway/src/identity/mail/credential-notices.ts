import { randomUUID } from "node:crypto";
import type { OptionValues } from "@fairway/wire";
import type { Transaction } from "kysely";
import type { CredentialChangeKind } from "../../events/credential-changes.ts";
import { recordRawEvent } from "../../events/record-event.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn } from "../../storage/transaction.ts";
import type { Mailer } from "./mailer.ts";
import { credentialMail } from "./messages.ts";

export interface CredentialNoticesDeps {
  readonly database: Pick<Database, "db" | "kind">;
  readonly mailer: Mailer;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with mails that are being sent, which the server awaits when it stops. */
  readonly background: (work: Promise<void>) => void;
}

/** A change of the ways into an account. */
export interface CredentialChange {
  readonly userId: number;
  readonly kind: CredentialChangeKind;
  /** Address of the client that made the change. */
  readonly ip: string;
  /** The administrator who made it; absent if it was the person. */
  readonly by?: string | undefined;
}

export interface CredentialMail {
  readonly userId: number;
  /** A sentence: "A passkey was added." */
  readonly what: string;
  /** Address of the client that made the change. */
  readonly ip: string;
  /** Address of the mail instead of the account's own address. */
  readonly to?: string | undefined;
}

/** Tells people whose credentials have changed, so that they notice changes by a thief. */
export interface CredentialNotices {
  /** Writes the event, in the transaction of the change. */
  record(trx: Transaction<Schema>, change: CredentialChange): Promise<void>;
  /** Like `record`, in a transaction of prepared statements. */
  recordRaw(tx: RawTransaction, change: CredentialChange): Promise<void>;
  /** Mails. Returns at once and never fails; nothing is sent without a mail server or an address. */
  send(mail: CredentialMail): void;
}

export function createCredentialNotices(deps: CredentialNoticesDeps): CredentialNotices {
  const recordRaw = (tx: RawTransaction, change: CredentialChange) => recordChange(deps, tx, change);
  return {
    record: (trx, change) => recordRaw(rawOn(trx, deps.database.kind), change),
    recordRaw,
    send(change) {
      if (deps.mailer.isConfigured()) deps.background(mail(deps, change));
    },
  };
}

async function recordChange(
  { database, clock }: CredentialNoticesDeps,
  tx: RawTransaction,
  { userId, kind, ip, by }: CredentialChange,
): Promise<void> {
  const [user] = await tx.rows<{ username: string }>("select username from users where id = ?", [userId]);
  await recordRawEvent(tx, database.kind, {
    type: "account.credentials_changed",
    atMs: clock.now(),
    accountId: userId,
    userId,
    // Two changes may have one time, and each is an event.
    dedupKey: `account.credentials_changed:${userId}:${randomUUID()}`,
    data: { username: user?.username ?? "", change: kind, address: ip, ...(by !== undefined && { by }) },
  });
}

async function mail({ database, mailer, options, clock, log }: CredentialNoticesDeps, change: CredentialMail) {
  try {
    const find = database.db.selectFrom("users").select(["username", "email"]).where("id", "=", change.userId);
    const user = await find.executeTakeFirst();
    const to = change.to ?? user?.email ?? "";
    if (!user || to === "") return;
    const at = `${new Date(clock.now()).toISOString().slice(0, 19).replace("T", " ")} UTC`;
    const facts = { username: user.username, what: change.what, ip: change.ip, at };
    await mailer.send(credentialMail(to, options().SystemName, facts));
  } catch (error) {
    log.warn("the mail about a change of credentials was not sent", { user: change.userId, error });
  }
}
