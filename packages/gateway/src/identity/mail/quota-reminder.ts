import { formatQuota, serverAddress, type OptionValues } from "@fairway/wire";
import type { Limiter, Rule } from "../../limits/limiter.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import type { Mailer } from "./mailer.ts";
import { escapeHtml } from "./messages.ts";

export interface QuotaReminderDeps {
  readonly database: Pick<Database, "db">;
  readonly mailer: Mailer;
  readonly limiter: Limiter;
  readonly options: () => OptionValues;
  readonly log: Logger;
  /** Address of this server while the option is empty. */
  readonly publicUrl: string | undefined;
}

const TWICE_IN_TEN_MINUTES = { limit: 2, windowMs: 600_000 };
const LOW: Rule = { name: "reminder-low", ...TWICE_IN_TEN_MINUTES };
const EMPTY: Rule = { name: "reminder-empty", ...TWICE_IN_TEN_MINUTES };

/** Mails an owner whose balance a charge took below the threshold or to zero. Never throws. */
export function createQuotaReminder(deps: QuotaReminderDeps): (userId: number, before: number, after: number) => void {
  return (userId, before, after) => {
    const threshold = deps.options().QuotaRemindThreshold;
    const isEmpty = before > 0 && after <= 0;
    const isLow = before >= threshold && after < threshold;
    if (!isEmpty && !isLow) return;
    remind(deps, userId, { after, isEmpty }).catch((error: unknown) =>
      deps.log.error("a quota reminder could not be sent", { userId, error }),
    );
  };
}

/** A person who has chosen what is mailed gets mails about events, and not these too. */
async function hasOwnMails({ db }: Pick<Database, "db">, userId: number): Promise<boolean> {
  const rows = db.selectFrom("webhook_endpoints").select("id").where("owner", "=", `user:${userId}`);
  return (await rows.where("format", "=", "mail").executeTakeFirst()) !== undefined;
}

async function remind(
  { database, mailer, limiter, options, publicUrl }: QuotaReminderDeps,
  userId: number,
  { after, isEmpty }: { readonly after: number; readonly isEmpty: boolean },
): Promise<void> {
  if (!mailer.isConfigured()) return;
  const user = await database.db.selectFrom("users").select("email").where("id", "=", userId).executeTakeFirst();
  if (!user?.email || (await hasOwnMails(database, userId))) return;
  if (!(await limiter.take(isEmpty ? EMPTY : LOW, String(userId))).admitted) return;
  const values = options();
  const rest = formatQuota(Math.max(0, after), {
    quotaPerUnit: values.QuotaPerUnit,
    inCurrency: values.DisplayInCurrencyEnabled,
  });
  const link = escapeHtml(`${serverAddress(values, publicUrl)}/topup`);
  const subject = isEmpty ? "Your quota has been used up" : "Your quota is about to run out";
  await mailer.send({
    to: user.email,
    subject,
    html: `<p>${subject}: ${escapeHtml(rest)} left.</p><p><a href="${link}">${link}</a></p>`,
  });
}
