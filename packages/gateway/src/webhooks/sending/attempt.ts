import { USER_STATUS } from "@fairway/wire";
import { createHash } from "node:crypto";
import { PostError, type Posted } from "../../lib/net/post-once.ts";
import { readRetryAfter } from "../backoff.ts";
import { FORMATS } from "../formats/formats.ts";
import { readMember } from "../formats/format.ts";
import { isPublicOnly, parseOwner } from "../owners.ts";
import { renderText } from "../texts/render.ts";
import type { Endpoint, StoredEvent, Target, WebhookDeps } from "../types.ts";

/** What became of one attempt. */
export interface Attempt {
  readonly isDone: boolean;
  readonly isTimeout: boolean;
  /** The receiver wants nothing more. */
  readonly isUnwanted: boolean;
  /** 0 = no answer. */
  readonly status: number;
  readonly error: string;
  readonly ms: number;
  readonly bodyHash: string;
  readonly retryAfterMs: number | undefined;
}

export interface Message {
  readonly endpoint: Pick<Endpoint, "owner" | "format" | "language">;
  readonly target: Target;
  readonly events: readonly StoredEvent[];
  readonly redelivery: number;
  readonly signal?: AbortSignal | undefined;
}

const GONE = 410;
const TOO_MANY = 429;

/** Sends one message once. Rejects only if the signal is aborted. */
export async function attempt(deps: WebhookDeps, message: Message): Promise<Attempt> {
  const { clock, poster, options } = deps;
  const { endpoint, target, events, redelivery, signal } = message;
  const format = FORMATS[endpoint.format];
  const values = options();
  const serverAddress = deps.serverAddress();
  const money = { quotaPerUnit: values.QuotaPerUnit, inCurrency: values.DisplayInCurrencyEnabled };
  const { SystemName: systemName } = values;
  const text = renderText(events, { language: endpoint.language, systemName, serverAddress, money });
  const request = format.build({ target, events, text, nowMs: clock.now(), redelivery, serverAddress });
  const bodyHash = createHash("sha256").update(request.body).digest("hex");
  const began = performance.now();
  const finish = (rest: Pick<Attempt, "status" | "error"> & Partial<Attempt>): Attempt => ({
    isDone: rest.error === "",
    isTimeout: false,
    isUnwanted: false,
    retryAfterMs: undefined,
    ms: Math.round(performance.now() - began),
    bodyHash,
    ...rest,
  });
  try {
    const post = { ...request, isPublicOnly: isPublicOnly(endpoint.owner), signal };
    const answer = await (endpoint.format === "mail"
      ? sendMail(deps, endpoint.owner, { subject: text.title, html: request.body, events })
      : poster.post(post));
    const error = findFault(answer) ?? format.judge?.(answer) ?? "";
    const retryAfterMs = readWait(answer, clock.now());
    return finish({ status: answer.status, error, isUnwanted: answer.status === GONE, retryAfterMs });
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof PostError)) throw error;
    return finish({ status: 0, error: error.message, isTimeout: error.failure === "timeout" });
  }
}

const MAILED: Posted = { status: 200, text: "", retryAfter: undefined };

/** Mails the person whose endpoint it is. A deleted or disabled account, or one without an address, gets nothing. */
async function sendMail(
  { database, mailer, attach }: WebhookDeps,
  owner: string,
  { subject, html, events }: { readonly subject: string; readonly html: string } & Pick<Message, "events">,
): Promise<Posted> {
  const of = parseOwner(owner);
  const people = database.db.selectFrom("users").select("email").where("deleted_at", "is", null);
  const person = await people
    .where("id", "=", of.scope === "user" ? of.id : 0)
    .where("status", "=", USER_STATUS.enabled)
    .executeTakeFirst();
  if (!person?.email) return MAILED;
  const attachments = (await attach?.(events)) ?? [];
  try {
    await mailer.send({ to: person.email, subject, html, attachments });
  } catch (cause) {
    throw new PostError("unreachable", "the mail server did not accept the mail", cause);
  }
  return MAILED;
}

function findFault({ status }: Posted): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return `the receiver answered ${status}: redirects are not followed`;
  return `the receiver answered ${status}`;
}

/** Reads how long the receiver wants to be left alone; Discord and Telegram say it in the body too. */
function readWait(answer: Posted, nowMs: number): number | undefined {
  const wait = readRetryAfter(answer.retryAfter, nowMs);
  if (wait !== undefined || answer.status !== TOO_MANY) return wait;
  const member = readMember(answer, "retry_after");
  return typeof member === "number" && member > 0 ? Math.ceil(member * 1_000) : undefined;
}
