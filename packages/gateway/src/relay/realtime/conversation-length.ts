import { collectTexts } from "../../dialects/core/prompt.ts";
import { text } from "../../dialects/core/read.ts";
import type { JsonObject, Usage } from "../../dialects/core/types.ts";
import { walkResponses } from "../../dialects/openai-responses/prompt.ts";
import { promptTokenBound } from "../../lib/text/token-bound.ts";

/** Tokens in a second of the client's sound. */
const TOKENS_PER_SECOND = 10;

/** Input of one response. */
export interface InputTokens {
  /** All tokens, of any kind. */
  readonly tokens: number;
  readonly audio: number;
}

/** Additions to the conversation, in texts that an encoder can count. */
interface Added {
  texts: string;
  /** Upper estimate of the texts. */
  atMost: number;
  /** Tokens that need no encoder. */
  fixed: number;
  audio: number;
}

/** Counts the tokens that the next response reads: the whole conversation, as far as it is known. */
export class ConversationLength {
  /** Input and output of the last response that reported them. */
  #known = { tokens: 0, audio: 0 };
  /** What was added before the running response, and after it. */
  #pending = nothing();
  #fresh = nothing();
  #unconfirmed = 0;
  readonly #seen = new Set<string>();
  #soundBytes = 0;

  /** Adds an item that the client sends. */
  send(item: JsonObject): void {
    this.#unconfirmed++;
    this.#add({ input: [item] });
  }

  /** An item that the upstream reports; the client's own items are already counted. */
  confirm(item: JsonObject): void {
    const id = text(item, "id") ?? "";
    if (item["role"] === "assistant" || item["type"] === "function_call" || this.#seen.has(id)) return;
    this.#seen.add(id);
    if (this.#unconfirmed > 0) this.#unconfirmed--;
    else this.#add({ input: [item] });
  }

  /** Adds instructions, tools and items of a session or of one response. */
  settings(from: JsonObject): void {
    this.#add(from);
  }

  sound(bytes: number): void {
    this.#soundBytes += bytes;
  }

  clearSound(): void {
    this.#soundBytes = 0;
  }

  /** The sound so far becomes an item; returns its tokens. */
  commit(bytesPerSecond: number): number {
    const tokens = Math.ceil((this.#soundBytes / bytesPerSecond) * TOKENS_PER_SECOND);
    this.#soundBytes = 0;
    this.#fresh.fixed += tokens;
    this.#fresh.audio += tokens;
    return tokens;
  }

  /** A response begins to read the conversation so far. */
  read(): void {
    this.#pending = joined(this.#pending, this.#fresh);
    this.#fresh = nothing();
  }

  /** The upstream has counted what it read, and its answer. */
  report(usage: Usage): void {
    this.#known = { tokens: usage.input + usage.output, audio: usage.audioInput + usage.audioOutput };
    this.#pending = nothing();
  }

  /** An uncounted answer becomes part of the conversation. */
  keep(output: number): void {
    this.#pending.fixed += output;
  }

  get reported(): number {
    return this.#known.tokens;
  }

  /** Returns an upper estimate. */
  atMost(): InputTokens {
    const { atMost, fixed, audio } = joined(this.#pending, this.#fresh);
    return { tokens: this.#known.tokens + atMost + fixed, audio: this.#known.audio + audio };
  }

  /** The same, counted by an encoder. */
  async counted(count: (texts: string) => Promise<number>): Promise<InputTokens> {
    const { texts, fixed, audio } = joined(this.#pending, this.#fresh);
    const counted = texts === "" ? 0 : await count(texts);
    return { tokens: this.#known.tokens + counted + fixed, audio: this.#known.audio + audio };
  }

  #add(body: JsonObject): void {
    const { text: texts, extra } = collectTexts((reader) => walkResponses(body, reader));
    this.#fresh = joined(this.#fresh, { texts, atMost: promptTokenBound(texts), fixed: extra, audio: 0 });
  }
}

function nothing(): Added {
  return { texts: "", atMost: 0, fixed: 0, audio: 0 };
}

function joined(one: Added, other: Added): Added {
  return {
    texts: one.texts + other.texts,
    atMost: one.atMost + other.atMost,
    fixed: one.fixed + other.fixed,
    audio: one.audio + other.audio,
  };
}
