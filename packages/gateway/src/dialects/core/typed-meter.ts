// What protocols without streams, or with streams of a few named events, have in common.
import { parseEvents } from "../../lib/text/sse.ts";
import { modelEdits, withMembers } from "./request-spec.ts";
import { object, text } from "./read.ts";
import { hasValue, lastRead, mayHoldError, needle, type Needle } from "./scan.ts";
import type { Dialect, JsonObject, UsageMeter, UpstreamErrorEvent, Usage } from "./types.ts";
import { readError, splitAtError } from "./upstream-error.ts";

const NO_TEXT = { text: "", extra: 0 };
const USAGE = needle("usage");
const ERROR = needle("error", 1);

export interface TypedMeterOptions {
  /** Types of the events that end the stream. */
  readonly ends: readonly string[];
  readonly readUsage: (usage: JsonObject) => Usage | undefined;
}

/** Meter of streams whose events name themselves in `type`; the last one carries usage. */
export class TypedMeter implements UsageMeter {
  readonly #ends: readonly Needle[];
  readonly #types: ReadonlySet<string>;
  readonly #readUsage: TypedMeterOptions["readUsage"];
  usage: Usage | undefined;
  finished = false;
  terminated = false;
  error: UpstreamErrorEvent | undefined;

  constructor(options: TypedMeterOptions) {
    this.#types = new Set(options.ends);
    this.#ends = options.ends.map((type) => needle(type, type.lastIndexOf(".") + 1));
    this.#readUsage = options.readUsage;
  }

  feed(blocks: Buffer): void {
    const ends = !this.finished && this.#ends.some((end) => hasValue(blocks, end));
    // The event that ends a failed answer may name no error, so the ends are searched for one too.
    const failed = ends || mayHoldError(blocks, ERROR) ? splitAtError(blocks) : undefined;
    this.error ??= failed?.error;
    const answer = failed?.before ?? blocks;
    this.usage = lastRead(answer, USAGE, this.#readUsage) ?? this.usage;
    if (!ends) return;
    this.finished = parseEvents(answer).some(({ data }) => this.#types.has(text(data, "type") ?? ""));
    this.terminated = this.finished;
  }
}

/** The parts of a dialect that a JSON protocol without streams leaves at their defaults. */
export const plainDialect: Omit<Dialect, "id" | "inspect" | "promptTexts" | "promptWords"> = {
  errors: "openai",
  retarget: (body, _spec, upstreamModel) => withMembers(body, modelEdits(body, upstreamModel)),
  usage: () => undefined,
  errorIn: (answer) => readError(answer["error"]),
  meter: () => new TypedMeter({ ends: [], readUsage: () => undefined }),
  answerTexts: () => NO_TEXT,
  eventTexts: () => NO_TEXT,
  hasContent: () => true,
  isUsageOnly: () => false,
  toStream: () => Buffer.alloc(0),
  assembleAnswer: () => undefined,
  usageEvent: () => undefined,
  terminator: undefined,
};

/** The `usage` member of an answer, read by `read`. */
export function usageMember(answer: JsonObject, read: (usage: JsonObject) => Usage | undefined): Usage | undefined {
  const usage = object(answer, "usage");
  return usage === undefined ? undefined : read(usage);
}
