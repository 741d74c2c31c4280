import { isObject, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { isUnknown } from "../parts/content/text-parts.ts";
import { readPartKind, unsupportedPart } from "../parts/answer/refused.ts";
import { CallIds } from "./call-ids.ts";
import { assistantBlocks, cacheMark, textBlock, toolResult, userBlocks } from "./content.ts";

interface Turn {
  readonly role: "user" | "assistant";
  /** A single text, which stays a plain text. */
  plain: string | undefined;
  readonly blocks: JsonObject[];
}

/** Returns the turns of a chat; neighbouring messages of one role become one turn, in which tool results come first. */
export function toAnthropicMessages(body: JsonObject, context: BridgeContext): JsonObject[] {
  const turns: Turn[] = [];
  const ids = new CallIds();
  for (const message of objects(body, "messages")) {
    const next = toTurn(message, ids, context);
    if (next === undefined) continue;
    const last = turns.at(-1);
    if (last?.role === next.role) {
      last.blocks.push(...next.blocks);
      last.plain = undefined;
    } else turns.push(next);
  }
  trimEnd(turns.at(-1));
  return turns.map(({ role, plain, blocks }) => ({ role, content: plain ?? blocks }));
}

function toTurn(message: JsonObject, ids: CallIds, context: BridgeContext): Turn | undefined {
  const role = text(message, "role");
  if (role === "system" || role === "developer") return undefined;
  if (role === "tool" || role === "function") {
    return { role: "user", plain: undefined, blocks: [toolResult(message, ids, context)] };
  }
  if (role !== "assistant" && role !== "user") throw unsupportedPart(`messages.role.${role ?? "unknown"}`, context);
  const isAssistant = role === "assistant";
  const blocks = isAssistant ? assistantBlocks(message, ids, context) : markedBlocks(message, context);
  if (blocks.length === 0) return undefined;
  return { role: isAssistant ? "assistant" : "user", plain: plainText(message, blocks), blocks };
}

function plainText({ content }: JsonObject, blocks: readonly JsonObject[]): string | undefined {
  const [only] = blocks.length === 1 ? blocks : [];
  const isPlain = only?.["type"] === "text" && only["cache_control"] === undefined;
  return isPlain && typeof content === "string" ? content : undefined;
}

/** Returns the blocks of a message; a cache mark on the message applies to its last block. */
function markedBlocks(message: JsonObject, context: BridgeContext): JsonObject[] {
  const blocks = userBlocks(message["content"], context);
  const mark = cacheMark(message);
  const last = blocks.at(-1);
  return mark === undefined || last === undefined ? blocks : [...blocks.slice(0, -1), { ...last, cache_control: mark }];
}

/** Trims a last assistant turn, which the model continues and which must not end in blanks. */
function trimEnd(turn: Turn | undefined): void {
  if (turn?.role !== "assistant") return;
  if (turn.plain !== undefined) turn.plain = turn.plain.trimEnd();
  const last = turn.blocks.at(-1);
  const written = last?.["type"] === "text" ? text(last, "text") : undefined;
  if (last !== undefined && written !== undefined) last["text"] = written.trimEnd();
}

/** Returns the system text: one text, or blocks if a cache mark must stay in place; undefined if there is none. */
export function buildSystem(
  body: JsonObject,
  instructions: readonly string[],
  context: BridgeContext,
): JsonValue | undefined {
  const blocks = objects(body, "messages")
    .filter(isSystem)
    .flatMap((message) => systemBlocks(message, context));
  const all = [...blocks, ...instructions.flatMap((instruction) => textBlock(instruction))];
  if (all.length === 0) return undefined;
  if (all.some((block) => block["cache_control"] !== undefined)) return all;
  return all.map((block) => text(block, "text") ?? "").join("\n\n");
}

function isSystem(message: JsonObject): boolean {
  return message["role"] === "system" || message["role"] === "developer";
}

function systemBlocks(message: JsonObject, context: BridgeContext): JsonObject[] {
  const content = message["content"];
  if (typeof content === "string") return textBlock(content, cacheMark(message));
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).flatMap((part) => {
    const said = text(part, "text") ?? text(part, "refusal");
    if (said === undefined || isUnknown(part)) throw unsupportedPart(`messages.content.${readPartKind(part)}`, context);
    return textBlock(said, cacheMark(part));
  });
}
