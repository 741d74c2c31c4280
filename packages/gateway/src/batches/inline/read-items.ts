import { setImmediate as nextTurn } from "node:timers/promises";
import type { JsonObject, RequestSpec } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { JsonScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../lib/text/json-scanner.ts";
import { hasOneMember } from "../../lib/text/json-splice.ts";
import { topLevelMembers } from "../../lib/text/json-top-level.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { SharedIds } from "../../relay/request/shared-ids.ts";
import { CustomIds } from "../custom-ids.ts";
import { checkItem } from "../items/check-item.ts";
import type { InlineProtocol } from "../protocols/protocol.ts";
import type { BatchCall, BatchDeps } from "../types.ts";
import type { BodyEdit, InlineBody } from "./inline-body.ts";

/** The items of one model. */
export interface ModelItems {
  /** Position of the first one. */
  readonly first: number;
  readonly specs: readonly RequestSpec[];
  /** Positions of the values of `model`. */
  readonly spans: number[];
}

export interface InlineItems {
  readonly models: ReadonlyMap<string, ModelItems>;
  /** Edits that hold whatever channel serves. */
  readonly edits: readonly BodyEdit[];
  /** Ids that only a channel that lists them may get. */
  readonly sharedIds: readonly SharedIds[];
  readonly customIds: CustomIds;
  readonly total: number;
}

/** Gives other work a turn after so many bytes. */
const TURN_BYTES = 256 * 1024;

/** Reads and checks the items one by one. Throws AppError with the position of the first item that is refused. */
export async function readInlineItems(
  body: InlineBody,
  protocol: InlineProtocol,
  call: BatchCall,
  deps: BatchDeps,
): Promise<InlineItems> {
  const reader = new ItemReader(protocol, call, deps);
  let sinceTurn = 0;
  for (let at = 0; at < body.starts.length; at++) {
    const start = body.starts[at] ?? 0;
    const bytes = Buffer.allocUnsafe((body.ends[at] ?? 0) - start);
    await readWhole(body.spool, bytes, start);
    try {
      await reader.read(bytes, start, at);
    } catch (error) {
      throw atItem(AppError.from(error), protocol, at);
    }
    sinceTurn += bytes.length;
    if (sinceTurn < TURN_BYTES) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  return reader.items(body.starts.length);
}

async function readWhole(spool: InlineBody["spool"], into: Buffer, from: number): Promise<void> {
  for (let done = 0; done < into.length;) {
    const count = await spool.readAt(into.subarray(done), from + done);
    if (count === 0) throw new Error("the body of a batch ends early");
    done += count;
  }
}

/** Names the item of an error; errors that concern no item stay. */
function atItem(error: AppError, { itemPath }: InlineProtocol, at: number): AppError {
  if (error.status >= 500 || error.code === "sensitive_words_detected") return error;
  const place = `${itemPath.join(".")}.${at}`;
  const param = error.param === undefined ? place : `${place}.${error.param}`;
  return invalidRequest(param, `${param}: ${error.message}`);
}

class ItemReader {
  readonly #protocol: InlineProtocol;
  readonly #call: BatchCall;
  readonly #deps: BatchDeps;
  readonly #models = new Map<string, ModelItems & { readonly specs: RequestSpec[] }>();
  readonly #edits: BodyEdit[] = [];
  readonly #shared: SharedIds[] = [];
  readonly #customIds = new CustomIds();

  constructor(protocol: InlineProtocol, call: BatchCall, deps: BatchDeps) {
    this.#protocol = protocol;
    this.#call = call;
    this.#deps = deps;
  }

  items(total: number): InlineItems {
    return { models: this.#models, edits: this.#edits, sharedIds: this.#shared, customIds: this.#customIds, total };
  }

  async read(bytes: Buffer, start: number, at: number): Promise<void> {
    const { itemDialect: dialect, operation, idMember } = this.#protocol;
    const item = this.#protocol.readItem(parseElement(bytes));
    const { customId, member, model, body } = item;
    if (customId !== undefined && !this.#customIds.add(customId))
      throw invalidRequest(idMember, "another item of the batch has the same id.");
    const inner = requireSpan(bytes, member);
    const text = bytes.subarray(inner.start, inner.end);
    const span = item.namesModel ? requireSpan(text, "model", `${member}.model`) : undefined;
    const from = start + inner.start;
    const request = { member, body, bytes: text, model, operation, dialect };
    const { spec, sharedIds, edited } = await checkItem(request, this.#call, this.#deps);
    if (sharedIds) this.#shared.push(sharedIds);
    if (edited) this.#edits.push(...findEdits(body, edited, text, from));
    let items = this.#models.get(model);
    if (!items) this.#models.set(model, (items = { first: at, specs: [], spans: [] }));
    items.specs.push(spec);
    if (span) items.spans.push(from + span.start, from + span.end);
  }
}

function parseElement(bytes: Buffer): JsonObject {
  const scanner = new JsonScanner({ maxDepth: MAX_JSON_DEPTH, maxValues: MAX_JSON_VALUES, maxBytes: bytes.length });
  scanner.write(bytes);
  const element = scanner.end() ? parseObject(bytes.toString("utf8")) : undefined;
  if (!element) throw new AppError("invalid_request", { values: { reason: "it must be a valid JSON object." } });
  return element as JsonObject;
}

/** Returns where the value of a member is; a repeated one would be read differently by another parser. */
function requireSpan(bytes: Buffer, name: string, param = name): { readonly start: number; readonly end: number } {
  const span = topLevelMembers(bytes, [name])?.get(name);
  if (!span || !hasOneMember(bytes, name)) throw invalidRequest(param, "it must be there once.");
  return span;
}

/** Returns the edits that turn the outermost members of one object into those of the other. */
function findEdits(before: JsonObject, after: JsonObject, text: Buffer, from: number): BodyEdit[] {
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  const spans = topLevelMembers(text, changed);
  return changed.flatMap((name) => {
    const span = spans?.get(name);
    const isSame = JSON.stringify(after[name]) === JSON.stringify(before[name]);
    return span && !isSame
      ? [{ start: from + span.start, end: from + span.end, json: JSON.stringify(after[name]) }]
      : [];
  });
}
