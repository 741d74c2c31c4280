import { parseObject } from "../../dialects/core/read.ts";
import type { AnswerIds, JsonObject } from "../../dialects/core/types.ts";

const NEWLINE = 10;
const DATA = Buffer.from("data:");
/** Longest event that is read. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Reads the ids that an answer gives to its client. Only the upstream's own members count: otherwise a client could
 * claim the ids of others through parts of its request that the answer repeats.
 */
export class AnswerIdReader {
  readonly #ids: AnswerIds;
  readonly #marks: readonly Buffer[];
  readonly #onId: (id: string) => void;
  #rest: Buffer = NOTHING;

  constructor(ids: AnswerIds, onId: (id: string) => void) {
    this.#ids = ids;
    this.#marks = ids.marks.map((mark) => Buffer.from(`"${mark}"`));
    this.#onId = onId;
  }

  /** Reads bytes of a stream as they arrive. */
  feed(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const line = chunk.subarray(from, end);
      this.#line(this.#rest.length === 0 ? line : Buffer.concat([this.#rest, line]));
      this.#rest = NOTHING;
      from = end + 1;
    }
    if (from === chunk.length || this.#rest.length > MAX_LINE_BYTES) return;
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(from)]);
  }

  #line(line: Buffer): void {
    if (!line.subarray(0, DATA.length).equals(DATA)) return;
    if (!this.#marks.some((mark) => line.includes(mark))) return;
    const event = parseObject(line.toString("utf8", DATA.length));
    if (event) this.readAnswer(event);
  }

  /** Reads a whole answer, or one event. */
  readAnswer(answer: JsonObject): void {
    for (const id of this.#ids.read(answer)) this.#onId(id);
  }
}
