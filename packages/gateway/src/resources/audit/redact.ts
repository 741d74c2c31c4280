import { isHiddenOption } from "@fairway/wire";
import { hinted } from "../../lib/text/secret-members.ts";

const HIDDEN = "***";
const SECRET_NAME = /(password\d?|secret|token|key|code|credential|response|authorization|api_?key)$/i;
/** Members with files and variables of another gateway; any part of them may be a key. */
const HOLDS_SECRETS = /^(config|variables)$/;
/** The address of a webhook, which is a secret: many services check nothing else. */
const SECRET_ADDRESS = "url";
const MAX_CHARS = 16_384;
const MAX_DEPTH = 6;

/** Returns the input of a call as JSON without secrets, also inside JSON texts and addresses; cuts long texts. */
export function redacted(input: unknown): string {
  const text = JSON.stringify(hide(input, [])) ?? "null";
  return text.length > MAX_CHARS ? JSON.stringify({ cut: text.slice(0, MAX_CHARS) }) : text;
}

function hide(value: unknown, path: readonly string[]): unknown {
  if (typeof value === "string") return hinted(value, path);
  if (typeof value !== "object" || value === null) return value;
  if (path.length === MAX_DEPTH) return HIDDEN;
  if (Array.isArray(value)) return value.map((item: unknown, index) => hide(item, [...path, String(index)]));
  return Object.fromEntries(Object.entries(value).map((member) => hideMember(value, member, path)));
}

function hideMember(owner: object, [name, member]: [string, unknown], path: readonly string[]): [string, unknown] {
  if (isOption(owner)) {
    return [name, name === "value" && isHiddenOption(owner.key) ? HIDDEN : member];
  }
  if (name === SECRET_ADDRESS && typeof member === "string") return [name, showHost(member)];
  const isSecret = (SECRET_NAME.test(name) || HOLDS_SECRETS.test(name)) && member !== "" && typeof member !== "boolean";
  return [name, isSecret ? HIDDEN : hide(member, [...path, name])];
}

function showHost(address: string): string {
  return URL.canParse(address) ? new URL(address).host : HIDDEN;
}

/** Returns true for an option: only there is `key` a name. */
function isOption(value: object): value is { readonly key: string; readonly value: unknown } {
  return "key" in value && "value" in value && typeof value.key === "string";
}
