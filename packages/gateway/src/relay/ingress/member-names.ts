import type { JsonObject } from "../../dialects/core/types.ts";
import { invalidRequest, type AppError } from "../../lib/app-error.ts";
import { isObject } from "../../lib/text/json.ts";
import { repeatedMembers } from "../../lib/text/json-members.ts";

/**
 * Members that decide about money or routing, in any protocol of clients. Servers that read names without regard to
 * case (Go's JSON decoder does) would take `Model` for `model`, and be paid for the other one.
 */
const READ = [
  "model",
  "messages",
  "prompt",
  "input",
  "instructions",
  "system",
  "contents",
  "systemInstruction",
  "generationConfig",
  "stream",
  "stream_options",
  "n",
  "best_of",
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "max_tokens_to_sample",
  "service_tier",
  "speed",
  "background",
  "store",
  "previous_response_id",
  "tools",
  "tool_choice",
  "functions",
  "web_search_options",
  "modalities",
  "reasoning",
  "reasoning_effort",
  "thinking",
  "size",
  "quality",
  "seconds",
  "duration",
  "documents",
  "query",
  "dimensions",
  "file",
  "image",
  "group",
];

/** The same inside of objects that are members. */
const READ_INSIDE: Readonly<Record<string, readonly string[]>> = {
  stream_options: ["include_usage"],
  reasoning: ["effort"],
  thinking: ["type", "budget_tokens"],
  generationConfig: ["maxOutputTokens", "candidateCount", "responseModalities", "thinkingConfig"],
  generation_config: ["max_output_tokens", "candidate_count", "response_modalities", "thinking_config"],
};

/** Folded name -> the name as the gateway reads it. */
type Folded = ReadonlyMap<string, string>;

const TOP = foldedNames(READ);
const INSIDE: ReadonlyMap<string, Folded> = new Map(
  Object.entries(READ_INSIDE).map(([parent, names]) => [parent, foldedNames(names)]),
);

/** Protobuf's JSON takes `generation_config` for `generationConfig`: both at once are refused as well. */
const SPELLED_TWICE: readonly (readonly [camel: string, snake: string])[] = [
  ["generationConfig", "generation_config"],
  ["systemInstruction", "system_instruction"],
  ["maxOutputTokens", "max_output_tokens"],
  ["candidateCount", "candidate_count"],
];

/** Members of a JSON text as they stand in its bytes, counted by the scanner. */
export interface MemberCounts {
  readonly topMembers: number;
  /** Of all objects that are members of the outermost one. */
  readonly innerMembers: number;
}

/** Throws `invalid_request` for a name that another reader may take for one that the gateway reads, naming both. */
export function checkMembers(json: JsonObject, bytes: Buffer, counts: MemberCounts): void {
  checkNames(json, TOP);
  let inner = 0;
  for (const [name, value] of Object.entries(json)) {
    if (!isObject(value)) continue;
    inner += Object.keys(value).length;
    const names = INSIDE.get(name);
    if (names) checkNames(value, names, name);
  }
  const top = Object.keys(json).length;
  if (counts.topMembers > top || counts.innerMembers > inner) refuseRepeated(bytes);
}

/** The same for one field of a form. */
export function checkField(name: string): void {
  const plain = name.replace(/\[\d*\]$/, "");
  const read = TOP.get(fold(plain));
  if (read !== undefined && read !== plain) throw ambiguous(plain, read);
}

function checkNames(object: JsonObject, names: Folded, parent = ""): void {
  for (const name of Object.keys(object)) {
    const read = names.get(name) === name ? name : names.get(fold(name));
    if (read !== undefined && read !== name) throw ambiguous(path(parent, name), path(parent, read));
  }
  for (const [camel, snake] of SPELLED_TWICE)
    if (Object.hasOwn(object, camel) && Object.hasOwn(object, snake))
      throw ambiguous(path(parent, snake), path(parent, camel));
}

function refuseRepeated(bytes: Buffer): void {
  const repeated = repeatedMembers(bytes).find(
    ({ parent, name }) => parent === undefined || INSIDE.get(parent)?.has(fold(name)),
  );
  if (!repeated) return;
  const name = path(repeated.parent ?? "", repeated.name.slice(0, 100));
  throw invalidRequest(name, `${name} stands in the body twice; send it once.`);
}

function ambiguous(sent: string, read: string): AppError {
  const shown = sent.slice(0, 100);
  return invalidRequest(shown, `${shown} differs from ${read} only in its spelling; send ${read}.`);
}

function path(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}

/** Without case, as readers fold it that also take letters like the long s. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function foldedNames(names: readonly string[]): Folded {
  const folded = new Map(names.map((name) => [fold(name), name]));
  for (const name of names) folded.set(name, name);
  return folded;
}
