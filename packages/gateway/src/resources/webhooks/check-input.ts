import { NO_QUIET, type WebhookCreateBody, type WebhookUpdateBody } from "@fairway/wire";
import { findEventType } from "../../events/catalogue.ts";
import { checkAddress, PostError } from "../../lib/net/post-once.ts";
import { isTimeZone } from "../../billing/budgets/time-zones.ts";
import { Refusal } from "../../lib/refusal.ts";
import { FORMATS } from "../../webhooks/formats/formats.ts";
import { isPublicOnly, writeOwner, type Owner } from "../../webhooks/owners.ts";
import type { Endpoint, Target } from "../../webhooks/types.ts";
import type { EndpointValues } from "./store.ts";

/** Seconds in which a text format joins events, unless the owner says otherwise. */
const GROUP_SECONDS = 30;

export interface Checked {
  readonly values: Required<EndpointValues>;
  readonly target: Omit<Target, "keys">;
}

/** Checks a new endpoint. Throws a refusal that names the field. */
export function checkNew(body: WebhookCreateBody, owner: Owner): Checked {
  const { format, url, types = [], quiet, secret = "", chat_id: chatId = "" } = body;
  checkRest(body);
  const host = checkUrl(url, owner);
  if (format === "telegram" && chatId === "") throw new Refusal("webhook_chat_missing", { field: "chat_id" });
  return {
    values: {
      name: body.name,
      format,
      host,
      types: JSON.stringify(types),
      min_severity: body.min_severity ?? "info",
      language: body.language ?? "en",
      quiet: writeQuiet(quiet),
      group_seconds: body.group_seconds ?? (FORMATS[format].isText ? GROUP_SECONDS : 0),
      ordered: Number(body.ordered ?? false),
      status: "untested",
    },
    target: { url, secret, chatId },
  };
}

/** Checks a change and returns the columns that it sets. */
export function checkChange(
  body: WebhookUpdateBody,
  { owner, endpoint }: { readonly owner: Owner; readonly endpoint: Endpoint },
): EndpointValues {
  checkRest(body);
  const { url, status, name, min_severity, language, group_seconds } = body;
  if (status === "on" && (url !== undefined || endpoint.status === "untested" || endpoint.status === "disabled"))
    throw new Refusal("webhook_untested", { field: "status" });
  return {
    ...dropMissing({ name, min_severity, language, group_seconds, status }),
    ...writeLists(body),
    ...(url !== undefined && { host: checkUrl(url, owner), status: "untested" as const }),
  };
}

/** Returns the column of quiet hours. */
export function writeQuiet(quiet: WebhookUpdateBody["quiet"]): string | null {
  return quiet === undefined || quiet === NO_QUIET ? null : JSON.stringify(quiet);
}

function writeLists({ types, quiet, ordered }: WebhookUpdateBody): EndpointValues {
  return {
    ...(types !== undefined && { types: JSON.stringify(types) }),
    ...(quiet !== undefined && { quiet: writeQuiet(quiet) }),
    ...(ordered !== undefined && { ordered: Number(ordered) }),
  };
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function dropMissing<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>;
}

/** Returns how the sealed part changes; undefined if it does not. */
export function changeTarget({
  url,
  secret,
  chat_id: chatId,
}: WebhookUpdateBody): ((target: Target) => Target) | undefined {
  if (url === undefined && secret === undefined && chatId === undefined) return undefined;
  return (target) => ({
    ...target,
    ...(url !== undefined && { url }),
    ...(secret !== undefined && { secret }),
    ...(chatId !== undefined && { chatId }),
  });
}

function checkUrl(url: string, owner: Owner): string {
  try {
    return checkAddress(url, isPublicOnly(writeOwner(owner))).host;
  } catch (error) {
    if (!(error instanceof PostError)) throw error;
    throw new Refusal("webhook_url_refused", { field: "url", values: { reason: error.message } });
  }
}

export function checkRest({ types = [], quiet }: Pick<WebhookUpdateBody, "types" | "quiet">): void {
  const unknown = types.find((type) => !findEventType(type));
  if (unknown !== undefined) throw new Refusal("event_type_unknown", { field: "types", values: { type: unknown } });
  if (quiet && quiet !== NO_QUIET && !isTimeZone(quiet.zone))
    throw new Refusal("time_zone_unknown", { field: "quiet", values: { zone: quiet.zone } });
}
