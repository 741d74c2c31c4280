// Shared parts of protocols without streams, or with streams of a few named events.
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

/** Meter of streams whose events have a `type`; the last event carries usage. */
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
    // The last event of a failed answer may not be called an error, so last events are searched for one too.
    const failed = ends || mayHoldError(blocks, ERROR) ? splitAtError(blocks) : undefined;
    this.error ??= failed?.error;
    const answer = failed?.before ?? blocks;
    this.usage = lastRead(answer, USAGE, this.#readUsage) ?? this.usage;
    if (!ends) return;
    this.finished = parseEvents(answer).some(({ data }) => this.#types.has(text(data, "type") ?? ""));
    this.terminated = this.finished;
  }
}

/** Defaults of a dialect for JSON protocols without streams. */
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

/** Reads the `usage` member of an answer by `read`. */
export function usageMember(answer: JsonObject, read: (usage: JsonObject) => Usage | undefined): Usage | undefined {
  const usage = object(answer, "usage");
  return usage === undefined ? undefined : read(usage);
}
