import { encodeBlock, parseEvents, splitBlocks, createBlockFramer } from "../../lib/text/sse.ts";
import type { Bridge, BridgeContext, Conversion } from "../../dialects/core/bridge.ts";
import type { DialectId, JsonObject, StreamEvent } from "../../dialects/core/types.ts";
import { createDeframer } from "./framing/framing.ts";
import { failureIn200, type ReadingOptions } from "./errors/classify.ts";
import type { ResponseContext, ResponseTransform, ChannelRecord, ProviderAdapter, UpstreamRoute } from "./types.ts";
import type { UpstreamError } from "./failed-answer.ts";

export interface ResponseDecoderOptions {
  readonly provider: ProviderAdapter;
  readonly route: UpstreamRoute;
  /** The bridges that the request used, from the client's protocol to the upstream's. */
  readonly bridges: readonly Bridge[];
  /** The conversions that those bridges began with the request. */
  readonly conversions: readonly Conversion[];
  readonly context: BridgeContext;
  readonly channel: ChannelRecord;
  /** Head of the upstream's answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** An event larger than this throws BlockTooLargeError. */
  readonly maxEventBytes: number;
}

/**
 * Brings an upstream's answer into a public dialect: cuts its framing into event blocks, repairs vendor deviations and
 * converts private protocols. Meters, usage and further bridges see only the result.
 */
export interface ResponseDecoder {
  /** Dialect of the output. */
  readonly dialect: DialectId;
  /** Remaining conversions, from the client's protocol to `dialect`. */
  readonly conversions: readonly Conversion[];
  /** Returns a failure that the vendor sent with status 200; call it before `answer`. */
  refusal(body: Buffer, options?: ReadingOptions): UpstreamError | undefined;
  /** Decodes a whole answer; returns the same object if nothing changes. */
  answer(body: JsonObject): JsonObject;
  /** Returns whole event blocks, as the same bytes if nothing changes; undefined if no block is complete. */
  feed(chunk: Buffer): Buffer | undefined;
  /** Returns the bytes that remain at the end of the stream. */
  rest(): Buffer | undefined;
  /**
   * The reason why the stream cannot be read any further. It is set instead of thrown, so that the events before it are
   * delivered even if they arrived in the same read of the socket.
   */
  readonly fault?: Error | undefined;
}

type Step = (event: StreamEvent) => readonly StreamEvent[];

export function createResponseDecoder(parts: ResponseDecoderOptions): ResponseDecoder {
  return new AnswerDecoder(parts);
}

/** Every call has one, so what only streams need is created with their first bytes. */
class AnswerDecoder implements ResponseDecoder {
  readonly dialect: DialectId;
  readonly conversions: readonly Conversion[];
  readonly #parts: ResponseDecoderOptions;
  /** The conversion from the vendor's private protocol, if it has one. */
  readonly #inner: Conversion | undefined;
  readonly #repairs: readonly ResponseTransform[];
  readonly #context: ResponseContext;
  #flow: Flow | undefined;

  constructor(parts: ResponseDecoderOptions) {
    const { provider, route, bridges, conversions } = parts;
    const last = bridges.at(-1);
    const isPrivate = last !== undefined && route.dialect.startsWith("private:");
    this.#parts = parts;
    this.#inner = isPrivate ? conversions.at(-1) : undefined;
    this.#repairs = selectRepairs(provider, route.dialect);
    this.#context = buildResponseContext(parts);
    this.dialect = isPrivate ? last.client : route.dialect;
    this.conversions = isPrivate ? conversions.slice(0, -1) : conversions;
  }

  refusal(body: Buffer, options?: ReadingOptions): UpstreamError | undefined {
    const { provider, headers } = this.#parts;
    return failureIn200(provider, { status: 200, headers, body }, options);
  }

  answer(body: JsonObject): JsonObject {
    let repaired = body;
    for (const repair of this.#repairs) repaired = repair.answer?.(repaired, this.#context) ?? repaired;
    return this.#inner ? this.#inner.response(repaired) : repaired;
  }

  feed(chunk: Buffer): Buffer | undefined {
    return this.#flowing().feed(chunk);
  }

  rest(): Buffer | undefined {
    return this.#flowing().rest();
  }

  get fault(): Error | undefined {
    return this.#flow?.fault;
  }

  #flowing(): Flow {
    return (this.#flow ??= createFlow(this.#parts, this.#repairs, this.#inner, this.#context));
  }
}

const BLANK_LINE = Buffer.from("\n\n");
const CHAT: readonly DialectId[] = ["openai-chat"];

const NO_REPAIRS: readonly ResponseTransform[] = [];
const chosenRepairs = new WeakMap<readonly ResponseTransform[], Map<DialectId, readonly ResponseTransform[]>>();

/** Selects the repairs that a provider's record names for a dialect; this happens once. */
function selectRepairs(
  { responseTransforms }: ResponseDecoderOptions["provider"],
  dialect: DialectId,
): readonly ResponseTransform[] {
  if (!responseTransforms) return NO_REPAIRS;
  const byDialect = chosenRepairs.get(responseTransforms) ?? new Map<DialectId, readonly ResponseTransform[]>();
  chosenRepairs.set(responseTransforms, byDialect);
  const known = byDialect.get(dialect);
  if (known) return known;
  const chosen = responseTransforms.filter((repair) => (repair.on ?? CHAT).includes(dialect));
  byDialect.set(dialect, chosen);
  return chosen;
}

function buildResponseContext({ context, channel, headers }: ResponseDecoderOptions): ResponseContext {
  const { spec, upstreamModel, now, requestId } = context;
  return { spec, upstreamModel, channel, headers, now, requestId };
}

interface Flow {
  feed(chunk: Buffer): Buffer | undefined;
  rest(): Buffer | undefined;
  readonly fault?: Error | undefined;
}

function createFlow(
  parts: ResponseDecoderOptions,
  transforms: readonly ResponseTransform[],
  inner: Conversion | undefined,
  context: ResponseContext,
): Flow {
  const framer = createBlockFramer({ maxBytes: parts.maxEventBytes });
  const deframer = createDeframer(parts.route.framing ?? "sse", parts.route.dialect, parts.maxEventBytes);
  const used = transforms.flatMap((repair) => {
    const step = repair.stream?.(context);
    return step ? [{ marks: repair.marks?.map(markBytes), step }] : [];
  });
  const steps: Step[] = used.map(({ step }) => (event) => {
    const result = step(event);
    return "raw" in result ? [result] : result;
  });
  const marks = used.some((repair) => repair.marks === undefined)
    ? undefined
    : used.flatMap((repair) => repair.marks ?? []);
  const bridge = inner?.stream();
  if (bridge) steps.push((event) => bridge.event(event));
  let fault: Error | undefined;
  const upTo = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      fault = error as Error;
    }
  };
  const edit = (blocks: Buffer | undefined): Buffer | undefined => {
    if (blocks === undefined || steps.length === 0) return blocks;
    if (bridge) {
      const events: StreamEvent[] = [];
      upTo(() => {
        for (const event of parseEvents(blocks)) events.push(...run(steps, [event]));
      });
      return encode(events);
    }
    const parts: (Buffer | undefined)[] = [];
    upTo(() => (marks === undefined ? editAll(blocks, steps, parts) : editMarked(blocks, steps, marks, parts)));
    return joined(parts);
  };
  return {
    feed: (chunk) => edit(deframer ? framed(framer, deframer.push(chunk)) : framer.feed(chunk)),
    rest() {
      const left = deframer ? joined([framed(framer, deframer.end()), framer.rest()]) : framer.rest();
      const edited = edit(left);
      return joined([edited, bridge && fault === undefined ? encode(bridge.end()) : undefined]);
    },
    get fault() {
      return fault;
    },
  };
}

function framed(framer: Flow, bytes: Buffer | undefined): Buffer | undefined {
  return bytes === undefined || bytes.length === 0 ? undefined : framer.feed(bytes);
}

/**
 * Returns the bytes to search for. A native search is several times slower if it begins with a quote, because JSON is
 * full of quotes.
 */
function markBytes(mark: string): Buffer {
  return Buffer.from(mark.replace(/^"/, ""));
}

/** Adds the edited blocks to `parts`, up to the first one that throws. Unchanged blocks keep their bytes. */
function editAll(blocks: Buffer, steps: readonly Step[], parts: (Buffer | undefined)[]): void {
  for (const block of splitBlocks(blocks)) parts.push(editBlock(block, steps));
}

/** Reads only the blocks that hold a mark; the bytes between them are passed on unchanged. */
function editMarked(
  blocks: Buffer,
  steps: readonly Step[],
  marks: readonly Buffer[],
  parts: (Buffer | undefined)[],
): void {
  let place = firstMark(blocks, marks, 0);
  let done = 0;
  while (place >= 0) {
    const before = blocks.lastIndexOf(BLANK_LINE, place);
    const start = before < done ? done : before + BLANK_LINE.length;
    const end = blocks.indexOf(BLANK_LINE, place) + BLANK_LINE.length;
    if (start > done) parts.push(blocks.subarray(done, start));
    parts.push(editBlock(blocks.subarray(start, end), steps));
    done = end;
    place = firstMark(blocks, marks, done);
  }
  if (done < blocks.length) parts.push(done === 0 ? blocks : blocks.subarray(done));
}

function firstMark(bytes: Buffer, marks: readonly Buffer[], from: number): number {
  let first = -1;
  for (const mark of marks) {
    const at = bytes.indexOf(mark, from);
    if (at >= 0 && (first < 0 || at < first)) first = at;
  }
  return first;
}

/** Returns the same buffer if no step changes anything. */
function editBlock(block: Buffer, steps: readonly Step[]): Buffer | undefined {
  const [event] = parseEvents(block);
  if (!event) return block;
  const events = run(steps, [event]);
  return events.length === 1 && events[0] === event ? block : encode(events);
}

function run(steps: readonly Step[], events: readonly StreamEvent[]): readonly StreamEvent[] {
  return steps.reduce((current, step) => current.flatMap(step), events);
}

function encode(events: readonly StreamEvent[]): Buffer | undefined {
  if (events.length === 0) return undefined;
  return Buffer.from(
    events.map(({ event, data, raw }) => encodeBlock(raw === "" && data ? JSON.stringify(data) : raw, event)).join(""),
  );
}

function joined(parts: readonly (Buffer | undefined)[]): Buffer | undefined {
  const present = parts.filter((part) => part !== undefined);
  return present.length <= 1 ? present[0] : Buffer.concat(present);
}
