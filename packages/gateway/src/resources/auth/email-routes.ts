import {
  bindEmail,
  LOG_TYPE,
  resetPassword,
  sendEmailCode,
  sendResetLink,
  serverAddress,
  type OptionValues,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import type { AccessTokens } from "../../identity/keys/access-token.ts";
import type { Codes } from "../../identity/second-factor/verification-codes.ts";
import { emailParts, parseEmail } from "../../identity/mail/email-address.ts";
import type { CredentialNotices } from "../../identity/mail/credential-notices.ts";
import type { Mail, Mailer } from "../../identity/mail/mailer.ts";
import { codeMail, resetLink, resetMail, addressTakenMail } from "../../identity/mail/messages.ts";
import type { Passwords } from "../../identity/passwords/passwords.ts";
import type { Sessions } from "../../identity/sessions/sessions.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { randomText } from "../../lib/ids.ts";
import { refuseManaged } from "../../identity/providers/managed.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { WriteLog } from "../../storage/log-rows.ts";
import { rawOn } from "../../storage/transaction.ts";
import type { UserStore } from "../users/store.ts";
import type { AuthStore } from "./store.ts";

export interface EmailRoutesDeps {
  readonly database: Database;
  readonly users: UserStore;
  readonly store: AuthStore;
  readonly codes: Codes;
  readonly mailer: Mailer;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly writeLog: WriteLog;
  readonly log: Logger;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
  /** Registers mails in progress; the server awaits them when it stops. */
  readonly background: (work: Promise<void>) => void;
  readonly notices: CredentialNotices;
}

const NEW_PASSWORD_CHARS = 16;

export function emailRoutes(deps: EmailRoutesDeps): Route[] {
  return [
    implement(sendEmailCode, ({ query }) => sendCode(deps, query.email)),
    implement(sendResetLink, ({ query }) => sendReset(deps, query.email)),
    implement(resetPassword, (call) => reset(deps, call)),
    implement(bindEmail, (call) => bind(deps, call)),
  ];
}

function readAddress(text: string): string {
  if (text === "") throw new Refusal("email_missing", { field: "email" });
  const email = parseEmail(text);
  if (email === undefined) throw new Refusal("email_invalid", { field: "email" });
  return email;
}

/** Sends a mail to a taken address too, so that neither the response nor its time reveals whether it is taken. */
async function sendCode(deps: EmailRoutesDeps, text: string): Promise<void> {
  const { codes, mailer } = deps;
  const options = deps.options();
  const email = readAddress(text);
  checkAllowed(options, email);
  if (!mailer.isConfigured()) throw new Refusal("smtp_not_configured");
  const isTaken = await deps.users.isEmailTaken(email);
  const issued = await codes.issue("email", email);
  if ("waitSeconds" in issued) throw new Refusal("email_too_soon", { values: { n: issued.waitSeconds } });
  const { SystemName } = options;
  try {
    await send(deps, isTaken ? addressTakenMail(email, SystemName) : codeMail(email, SystemName, issued.code));
  } catch (cause) {
    await codes.withdraw("email", email);
    throw cause;
  }
}

function checkAllowed(options: OptionValues, email: string): void {
  const { local, domain } = emailParts(email);
  if (options.EmailDomainRestrictionEnabled && !options.EmailDomainWhitelist.includes(domain)) {
    throw new Refusal("email_domain_not_allowed", { field: "email" });
  }
  if (options.EmailAliasRestrictionEnabled && /[+.]/.test(local))
    throw new Refusal("email_alias_not_allowed", { field: "email" });
}

async function send({ mailer, log }: EmailRoutesDeps, mail: Mail): Promise<void> {
  try {
    await mailer.send(mail);
  } catch (cause) {
    log.warn("mail was not sent", { subject: mail.subject, error: cause });
    throw new Refusal("email_not_sent", { cause });
  }
}

/** Responds before the mail is sent, so that the response time does not reveal whether the address is known. */
async function sendReset(deps: EmailRoutesDeps, text: string): Promise<void> {
  const email = readAddress(text);
  if (!deps.mailer.isConfigured()) throw new Refusal("smtp_not_configured");
  deps.background(mailReset(deps, email));
}

async function mailReset(deps: EmailRoutesDeps, email: string): Promise<void> {
  try {
    if (!(await deps.store.findForReset(email))) return;
    const issued = await deps.codes.issue("reset", email);
    if ("waitSeconds" in issued) return;
    const options = deps.options();
    const link = resetLink(serverAddress(options, deps.publicUrl), email, issued.code);
    await deps.mailer.send(resetMail(email, options.SystemName, link));
  } catch (error) {
    deps.log.warn("reset mail was not sent", { error });
  }
}

async function reset(deps: EmailRoutesDeps, { body, context }: Call<typeof resetPassword>): Promise<string> {
  const { codes, users, passwords, sessions, accessTokens, database } = deps;
  const token = (body.token ?? "").trim();
  if ((body.email ?? "").trim() === "" || token === "") throw new Refusal("invalid_parameter");
  const email = parseEmail(body.email ?? "");
  if (email === undefined) throw new Refusal("reset_link_invalid");
  const user = await deps.store.findForReset(email);
  // The code is checked even if there is no account, so that the response time reveals nothing.
  const isRight = await codes.check("reset", email, { code: token, ip: context.ip });
  if (!user || !isRight) throw new Refusal("reset_link_invalid");
  const password = randomText(NEW_PASSWORD_CHARS);
  const hash = await passwords.hash(password);
  await users.write(user.id, async (trx) => {
    if (!(await codes.consume("reset", email, token, trx))) throw new Refusal("reset_link_invalid");
    await users.update(trx, user.id, { password: hash });
    await sessions.endAll(user.id, undefined, trx);
    await accessTokens.removeAll(user.id, trx);
    await deps.notices.record(trx, { userId: user.id, kind: "password_reset", ip: context.ip });
    await deps.writeLog(rawOn(trx, database.kind), {
      user_id: user.id,
      username: user.username,
      created_at: seconds(deps.clock),
      type: LOG_TYPE.manage,
      content: "Password reset by email",
      ip: context.ip,
    });
  });
  deps.notices.send({ userId: user.id, what: "The password was reset by e-mail.", ip: context.ip });
  return password;
}

async function bind(deps: EmailRoutesDeps, { query, caller, context }: Call<typeof bindEmail>): Promise<void> {
  const { users, codes } = deps;
  const { ip } = context;
  if (query.email === "") throw new Refusal("email_missing", { field: "email" });
  if (query.code === "") throw new Refusal("email_code_missing", { field: "code" });
  await refuseManaged(deps.database.db, caller.userId, "email");
  const email = parseEmail(query.email);
  if (email === undefined || !(await codes.check("email", email, { code: query.code, ip })))
    throw new Refusal("verification_code_wrong", { field: "code" });
  const former = (await users.find(caller.userId))?.email ?? undefined;
  if (await users.isEmailTaken(email, caller.userId)) throw new Refusal("email_taken", { field: "email" });
  const write = users.write(caller.userId, async (trx) => {
    if (!(await codes.consume("email", email, query.code, trx)))
      throw new Refusal("verification_code_wrong", { field: "code" });
    await users.update(trx, caller.userId, { email });
    await deps.notices.record(trx, { userId: caller.userId, kind: "email_changed", ip });
  });
  try {
    await write;
  } catch (cause) {
    if (isDuplicate(cause)) throw new Refusal("email_taken", { field: "email", cause });
    throw cause;
  }
  const notice = { userId: caller.userId, what: `The e-mail address was set to ${email}.`, ip };
  deps.notices.send(notice);
  if (former !== undefined && former !== email) deps.notices.send({ ...notice, to: former });
}
