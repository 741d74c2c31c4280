import { NO_USAGE, type Usage } from "../../dialects/core/types.ts";
import { promptTokenBound } from "../../lib/text/token-bound.ts";
import { sum } from "./usage-sum.ts";

interface OpenTranscript {
  readonly model: string;
  /** Tokens of the sound that is transcribed. */
  readonly sound: number;
  deltas: string;
  segments: string;
}

/** The cost of transcribing the client's speech, by the model that transcribes. */
export class Transcripts {
  readonly #charged = new Map<string, Usage>();
  readonly #open = new Map<string, OpenTranscript>();
  /** Transcripts without usage: they are counted when the session ends. */
  readonly #uncounted: OpenTranscript[] = [];
  completed = 0;

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  begin(itemId: string, model: string, sound: number): void {
    this.#open.set(itemId, { model, sound, deltas: "", segments: "" });
  }

  hear(itemId: string, text: string, isSegment: boolean, model: string): void {
    if (!this.#open.has(itemId)) this.begin(itemId, model, 0);
    const open = this.#open.get(itemId) as OpenTranscript;
    if (isSegment) open.segments += text;
    else open.deltas += text;
  }

  /** Believes `usage`; if there is none, the text counts. */
  complete(itemId: string, usage: Usage | undefined, text: string, model: string): void {
    const open = this.#open.get(itemId) ?? { model, sound: 0, deltas: "", segments: "" };
    this.#open.delete(itemId);
    this.completed++;
    if (usage) this.#charge(open.model, usage);
    else if (longest(open, text) !== "") this.#uncounted.push({ ...open, deltas: longest(open, text), segments: "" });
  }

  fail(itemId: string): void {
    this.#open.delete(itemId);
  }

  /** Returns usage by model, with upper estimates of unreported usage. */
  atMost(): ReadonlyMap<string, Usage> {
    const all = new Map(this.#charged);
    for (const one of this.#unreported()) add(all, one.model, estimated(one, promptTokenBound(longest(one))));
    return all;
  }

  /** The same, counted by an encoder. */
  async counted(count: (model: string, text: string) => Promise<number>): Promise<ReadonlyMap<string, Usage>> {
    for (const one of this.#unreported())
      this.#charge(one.model, { ...estimated(one, await count(one.model, longest(one))), source: "counted" });
    this.#open.clear();
    this.#uncounted.length = 0;
    return this.#charged;
  }

  #unreported(): OpenTranscript[] {
    return [...this.#uncounted, ...this.#open.values()];
  }

  #charge(model: string, usage: Usage): void {
    add(this.#charged, model, usage);
  }
}

function add(to: Map<string, Usage>, model: string, usage: Usage): void {
  to.set(model, sum(to.get(model) ?? NO_USAGE, usage));
}

function longest({ deltas, segments }: OpenTranscript, text = ""): string {
  return [deltas, segments, text].reduce((long, one) => (one.length > long.length ? one : long));
}

function estimated({ sound }: OpenTranscript, output: number): Usage {
  return { ...NO_USAGE, input: sound, audioInput: sound, output, source: "estimated" };
}
