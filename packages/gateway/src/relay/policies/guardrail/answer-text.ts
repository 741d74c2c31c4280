import { parseEvents } from "../../../lib/text/sse.ts";
import { shownText } from "../../../dialects/core/ran-texts.ts";
import type { Dialect, JsonObject } from "../../../dialects/core/types.ts";

/** Members that list the several answers of one request, whose chunks are interleaved. */
const LISTS = ["choices", "candidates"] as const;

/** Collects the text of a stream, separately for each of its answers. */
export class AnswerText {
  readonly #dialect: Dialect;
  readonly #texts = new Map<number, string>();
  length = 0;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** `blocks` are whole events in the client's protocol. */
  add(blocks: Buffer): void {
    for (const { data } of parseEvents(blocks)) {
      if (!data) continue;
      for (const [index, event] of answersIn(data)) this.#append(index, shownText(this.#dialect.eventTexts(event)));
    }
  }

  /** Adds the text of another instance. */
  join(other: AnswerText): void {
    for (const [index, text] of other.#texts) this.#append(index, text);
  }

  /** Drops all but the last characters of each answer. */
  cut(chars: number): void {
    this.length = 0;
    for (const [index, text] of this.#texts) {
      const rest = text.slice(-chars);
      this.#texts.set(index, rest);
      this.length += rest.length;
    }
  }

  toString(): string {
    return [...this.#texts.values()].join("\n");
  }

  #append(index: number, text: string): void {
    if (text === "") return;
    this.#texts.set(index, (this.#texts.get(index) ?? "") + text);
    this.length += text.length;
  }
}

function* answersIn(event: JsonObject): Iterable<[number, JsonObject]> {
  for (const name of LISTS) {
    const items = event[name];
    if (!Array.isArray(items) || items.length === 0) continue;
    for (const [at, item] of items.entries()) {
      const index = typeof item === "object" && item !== null && !Array.isArray(item) ? item["index"] : undefined;
      yield [typeof index === "number" ? index : at, { ...event, [name]: [item] }];
    }
    return;
  }
  yield [0, event];
}
