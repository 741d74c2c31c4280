import type { OptionValues } from "@fairway/wire";
import type { Kysely } from "kysely";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Mailer } from "./mailer.ts";
import { credentialMail } from "./messages.ts";

export interface CredentialNoticesDeps {
  readonly db: Kysely<Schema>;
  readonly mailer: Mailer;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with mails that are being sent, which the server awaits when it stops. */
  readonly background: (work: Promise<void>) => void;
}

export interface CredentialChange {
  readonly userId: number;
  /** A sentence: "A passkey was added." */
  readonly what: string;
  /** Address of the client that made the change. */
  readonly ip: string;
  /** Address of the mail instead of the account's own address. */
  readonly to?: string | undefined;
}

/** Mails to people whose credentials have changed, so that they notice changes by a thief. */
export interface CredentialNotices {
  /** Returns at once and never fails; nothing is sent without a mail server or an address. */
  send(change: CredentialChange): void;
}

export function createCredentialNotices(deps: CredentialNoticesDeps): CredentialNotices {
  return {
    send(change) {
      if (deps.mailer.isConfigured()) deps.background(mail(deps, change));
    },
  };
}

async function mail({ db, mailer, options, clock, log }: CredentialNoticesDeps, change: CredentialChange) {
  try {
    const find = db.selectFrom("users").select(["username", "email"]).where("id", "=", change.userId);
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
