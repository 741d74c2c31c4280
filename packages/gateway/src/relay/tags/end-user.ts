import { characters } from "@fairway/wire";
import { createHash } from "node:crypto";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import type { TagSource } from "./tag-source.ts";
import { hasNoControl, joinHeader, readEndUserHeader, tagRequired } from "./tag-header.ts";

const MAX_END_USER = 64;
const HASH_DIGITS = 32;

/** Returns the customer for whom the client made the call, as it names it; "" if it names none. */
export function readEndUser(source: TagSource): string {
  const { headers, body, caller, settings } = source;
  const named = readEndUserHeader(headers);
  const mode = caller.tags?.policy?.end_user ?? settings?.policy?.end_user ?? "client";
  if (mode === "off") return "";
  const found = named ?? readMapped(source) ?? readMember(body);
  if (found !== undefined) return nameEndUser(found);
  if (mode === "client") return "";
  throw tagRequired("end user", "X-Fairway-End-User");
}

function readMapped({ headers, settings }: TagSource): string | undefined {
  for (const name of settings?.endUserHeaders ?? []) {
    const value = readText(joinHeader(headers[name])?.split(",", 1)[0]);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Reads the members in which the protocols have it. */
function readMember(body: JsonObject): string | undefined {
  const { safety_identifier: identifier, user, metadata, labels } = body;
  return (
    readText(identifier) ??
    readText(user) ??
    (isObject(metadata) ? readUserId(metadata["user_id"]) : undefined) ??
    (isObject(labels) ? readText(labels["user"]) : undefined)
  );
}

/** A coding agent writes its account and its session into one text: the session is not the user. */
function readUserId(value: unknown): string | undefined {
  const text = readText(value);
  if (text === undefined) return undefined;
  const parts = text.startsWith("{") ? parseObject(text) : undefined;
  if (parts) return readText(parts["account_uuid"]) ?? readText(parts["device_id"]);
  const session = text.indexOf("_session_");
  return session < 0 ? text : readText(text.slice(0, session));
}

function readText(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return text !== "" && hasNoControl(text) ? text : undefined;
}

/** Returns the name under which an end user is counted. A longer text becomes its hash, so that it stays one end user. */
export function nameEndUser(text: string): string {
  const name = text.normalize("NFC");
  if (name.length <= MAX_END_USER || characters(name) <= MAX_END_USER) return name;
  return `sha256:${createHash("sha256").update(name).digest("hex").slice(0, HASH_DIGITS)}`;
}
