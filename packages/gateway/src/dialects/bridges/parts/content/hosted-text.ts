// Calls of tools that a vendor ran stay in histories that move to another vendor. They become text, because no function
// was called.
import { unsupportedPart } from "../answer/refused.ts";
import { anyText, isObject } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../../core/types.ts";
import { fenced } from "./code-fence.ts";

/** Members that only their vendor can open. */
const SEALED = /^encrypted_|^(?:signature|fingerprint)$/;
/** Types of whole files inside a call, which are not text. */
const FILES = new Set(["base64", "image"]);

/** Returns a call or its result as fenced JSON. Throws if it holds files, or nothing that another model can read. */
export function writeHostedCall(call: JsonObject, name: string, context: BridgeContext): string {
  const sealed: string[] = [];
  const readable = readablePart(call, { name, context, sealed });
  if (sealed.length > 0 && !holdsText(readable)) throw unsupportedPart(name, context);
  for (const member of sealed) context.dropped(`${name}.${member}`);
  return `${fenced("json", JSON.stringify(readable)).trim()}\n`;
}

interface Reading {
  readonly name: string;
  readonly context: BridgeContext;
  readonly sealed: string[];
}

function readablePart(value: JsonValue, reading: Reading): JsonValue {
  if (Array.isArray(value)) return value.map((item) => readablePart(item, reading));
  if (!isObject(value)) return value;
  if (FILES.has(anyText(value, "type"))) throw unsupportedPart(reading.name, reading.context);
  const readable: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined || member === null) continue;
    if (SEALED.test(key)) reading.sealed.push(key);
    else readable[key] = readablePart(member, reading);
  }
  return readable;
}

const NO_TEXT = /^(?:type|status|(?:\w+_)?id)$/;

function holdsText(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(holdsText);
  if (isObject(value))
    return Object.entries(value).some(([key, member]) => !NO_TEXT.test(key) && holdsText(member ?? null));
  return value !== null && value !== "";
}
