import { ROLE } from "@fairway/wire";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import type { Mailer } from "./mailer.ts";
import { escapeHtml } from "./messages.ts";

export interface NotifyRootDeps {
  readonly database: Pick<Database, "db">;
  readonly mailer: Mailer;
  readonly log: Logger;
}

/** Mails the super administrator, if there is an address and a mail server. Never rejects: a failure is logged. */
export async function notifyRoot(
  { database, mailer, log }: NotifyRootDeps,
  subject: string,
  text: string,
): Promise<void> {
  if (!mailer.isConfigured()) return;
  try {
    const root = await database.db.selectFrom("users").select("email").where("role", "=", ROLE.root).executeTakeFirst();
    if (root?.email) await mailer.send({ to: root.email, subject, html: `<p>${escapeHtml(text)}</p>` });
  } catch (error) {
    log.error("the super administrator could not be notified", { subject, error });
  }
}
