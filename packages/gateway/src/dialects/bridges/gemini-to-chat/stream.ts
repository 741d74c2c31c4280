import { isAnotherCall } from "../../core/chat-calls.ts";
import { anyText, compact, number, object, objects, text } from "../../core/read.ts";
import type { BridgeContext, StreamBridge } from "../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../core/types.ts";
import { geminiUsage } from "../../core/usage.ts";
import { readArguments } from "../parts/tools/arguments.ts";
import { BytePlaces } from "../parts/content/byte-offsets.ts";
import { callDeltas } from "../parts/tools/call-sequence.ts";
import { event } from "../parts/answer/chat-answer.ts";
import { formatImages, readThought, readWords } from "../parts/answer/finish-words.ts";
import { finishIn, geminiFinish } from "../parts/answer/finish.ts";
import { geminiLogprobs } from "../parts/answer/logprobs.ts";
import { callPart, codeParts, buildGrounding, modelContent, parsePart, soundParts } from "./answer.ts";
import { listHostedRuns } from "../parts/tools/hosted-runs.ts";
import { buildUsageMetadata } from "./usage.ts";

interface Call {
  id: string;
  name: string;
  args: string;
}

interface Calls {
  /** Calls in the order in which they began. */
  readonly all: Call[];
  /** The last call of each index. */
  readonly byIndex: Map<number, Call>;
}

/** Converts chat chunks to the events of a generateContent stream; a function call is sent when it is whole. */
export class ChunksToCandidates implements StreamBridge {
  readonly #context: BridgeContext;
  readonly #seen = new Set<number>();
  readonly #calls = new Map<number, Calls>();
  readonly #finishes = new Map<number, string>();
  readonly #refused = new Set<number>();
  /** The last piece of thinking by candidate: a signature that follows must be on a part with text. */
  readonly #thought = new Map<number, string>();
  readonly #annotations = new Map<number, JsonObject[]>();
  readonly #runs = new Map<number, JsonObject[]>();
  readonly #places = new Map<number, BytePlaces>();
  #id: string | undefined;
  #model: string | undefined;
  #usage: JsonObject | undefined;

  constructor(context: BridgeContext) {
    this.#context = context;
  }

  event({ data }: StreamEvent): StreamEvent[] {
    if (data === undefined) return [];
    this.#usage = buildUsageMetadata(object(data, "usage")) ?? this.#usage;
    const choices = objects(data, "choices");
    if (choices.length === 0) return [];
    this.#id ??= text(data, "id");
    this.#model ??= text(data, "model");
    return choices.flatMap((choice) => this.#choice(choice));
  }

  /** Writes the last event with what is only known now: calls, finish reasons, sources and usage. */
  end(counted?: Usage): StreamEvent[] {
    const candidates = [...this.#seen].map((index) =>
      compact({
        content: modelContent([...this.#unsent(index), ...(this.#calls.get(index)?.all ?? []).map(toCallPart)]),
        finishReason: geminiFinish(this.#finishes.get(index), this.#refused.has(index)),
        index,
        groundingMetadata: buildGrounding(
          this.#annotations.get(index) ?? [],
          this.#ensurePlaces(index),
          this.#runs.get(index),
        ),
      }),
    );
    return [this.#event(candidates, this.#usage ?? (counted && geminiUsage(counted)))];
  }

  #choice(choice: JsonObject): StreamEvent[] {
    const index = number(choice, "index") ?? 0;
    const delta = object(choice, "delta") ?? {};
    this.#usage = buildUsageMetadata(object(choice, "usage")) ?? this.#usage;
    this.#seen.add(index);
    const finish = finishIn(choice);
    if (finish !== undefined) this.#finishes.set(index, finish);
    if (anyText(delta, "refusal") !== "") this.#refused.add(index);
    for (const call of callDeltas(delta)) this.#collect(index, call);
    this.#readSources(delta, index);
    const parts = this.#toParts(delta, index);
    const logprobsResult = geminiLogprobs(choice);
    if (parts.length === 0 && logprobsResult === undefined) return [];
    const candidate = { content: modelContent(parts), index, ...(logprobsResult && { logprobsResult }) };
    return [this.#event([candidate], undefined)];
  }

  /** Collects what the last event needs for its grounding. */
  #readSources(delta: JsonObject, index: number): void {
    const annotations = objects(delta, "annotations");
    if (annotations.length > 0) this.#annotations.set(index, [...(this.#annotations.get(index) ?? []), ...annotations]);
    if (delta["fw_runs"] !== undefined)
      this.#runs.set(index, [...(this.#runs.get(index) ?? []), ...listHostedRuns(delta)]);
  }

  #toParts(delta: JsonObject, index: number): JsonObject[] {
    const parts = this.#thoughtParts(delta, index);
    const coded = delta["fw_runs"] === undefined ? [] : codeParts(delta);
    if (coded.length > 0) parts.push(...this.#unsent(index), ...coded);
    const content = readWords(delta);
    const refusal = anyText(delta, "refusal");
    if (content !== "" || refusal !== "") parts.push(...this.#unsent(index));
    if (content !== "") {
      this.#ensurePlaces(index).add(content);
      parts.push(parsePart(content));
    }
    if (refusal !== "") parts.push(parsePart(refusal));
    if (delta["images"] !== undefined) parts.push(...formatImages(delta).map(parsePart));
    parts.push(...soundParts(delta));
    return parts;
  }

  #ensurePlaces(index: number): BytePlaces {
    const places = this.#places.get(index) ?? new BytePlaces();
    this.#places.set(index, places);
    return places;
  }

  #thoughtParts(delta: JsonObject, index: number): JsonObject[] {
    const thinking = readThought(delta);
    const signed = objects(delta, "fw_thinking");
    const [first, ...more] = signed.length === 0 ? signed : signed.filter((block) => block["type"] === "thinking");
    if (first !== undefined) {
      const last = (this.#thought.get(index) ?? "") + thinking;
      this.#thought.delete(index);
      return [signedPart(last, first), ...more.map((block) => signedPart("", block))];
    }
    const reported = this.#unsent(index);
    if (thinking !== "") this.#thought.set(index, thinking);
    return reported;
  }

  #unsent(index: number): JsonObject[] {
    if (this.#thought.size === 0) return [];
    const thinking = this.#thought.get(index);
    this.#thought.delete(index);
    return thinking === undefined ? [] : [{ text: thinking, thought: true }];
  }

  #collect(index: number, part: JsonObject): void {
    const calls = this.#calls.get(index) ?? { all: [], byIndex: new Map<number, Call>() };
    this.#calls.set(index, calls);
    const target = object(part, "function") ?? object(part, "custom");
    const at = number(part, "index") ?? findCallIndex(calls.byIndex, text(part, "id"));
    const last = calls.byIndex.get(at);
    const known = last !== undefined && isAnotherCall(part, last.id) ? undefined : last;
    const call = known ?? { id: anyText(part, "id"), name: "", args: "" };
    if (call.id === "") call.id = anyText(part, "id");
    if (call.name === "") call.name = anyText(target, "name");
    call.args += readArguments(target);
    if (known !== undefined) return;
    calls.all.push(call);
    calls.byIndex.set(at, call);
  }

  #event(candidates: JsonObject[], usageMetadata: JsonObject | undefined): StreamEvent {
    return event({
      candidates,
      ...(usageMetadata && { usageMetadata }),
      modelVersion: this.#model ?? this.#context.spec.model,
      responseId: this.#id ?? this.#context.requestId,
    });
  }
}

/**
 * Returns the index of a call without one: vendors that leave it out send each call whole, so a new id is a new call.
 */
function findCallIndex(calls: ReadonlyMap<number, Call>, id: string | undefined): number {
  for (const [at, call] of calls) if (id !== undefined && call.id === id) return at;
  return id === undefined && calls.size > 0 ? calls.size - 1 : calls.size;
}

function signedPart(thinking: string, block: JsonObject): JsonObject {
  return { text: thinking, thought: true, thoughtSignature: anyText(block, "signature") };
}

function toCallPart({ id, name, args }: Call): JsonObject {
  return callPart({ id, function: { name, arguments: args } });
}
