import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import type { BridgeContext, Conversion } from "../../dialects/core/bridge.ts";
import type { Operation } from "../../dialects/core/types.ts";
import { dialectById } from "../../dialects/index.ts";
import { createResponseDecoder } from "../../providers/core/response-decoder.ts";
import { createStreamTranslation, translateAnswer } from "../conversion/translate.ts";
import { unreadable } from "../upstream/failure.ts";
import { BytesSink } from "./bytes-sink.ts";
import { FailureSink } from "./failure-sink.ts";
import type { Sink, SinkContext } from "./sink.ts";
import { SniffingSink } from "./sniffing-sink.ts";
import { StreamSink } from "./stream-sink.ts";
import { TextSink } from "./text-sink.ts";
import type { AnswerTranslation } from "./collected-events.ts";
import { WholeSink } from "./whole-sink.ts";

const MAX_EVENT_BYTES = 16 * 1024 * 1024;
const EVENT_STREAM = "text/event-stream";
/** Content types that proxies and small servers use for streams and JSON if they do not know the type. */
const UNNAMED = /^(?:text\/plain|application\/octet-stream)\b/;
/** The error page of a proxy instead of sound or text. */
const PAGE = /^text\/html\b/;
/** Operations whose answers may be plain text. */
const TEXT_OPERATIONS: ReadonlySet<Operation> = new Set(["audio.transcriptions", "audio.translations"]);

/** The beginning of an upstream's answer. */
interface AnswerHead {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** The context of the request that the sink answers. */
  readonly context: BridgeContext;
  readonly conversions: readonly Conversion[];
}

/**
 * Returns the sink for an answer of this status and content type; undefined if it is refused and the attempt failed.
 */
export function createSink(context: SinkContext, head: AnswerHead, counter: TokenCounter): Sink | undefined {
  const { status, headers } = head;
  if (status < 200 || status > 299) return new FailureSink(context, status);
  const type = (headers["content-type"] ?? "").toLowerCase();
  switch (resolveShape(type, context)) {
    case "text":
      return unstreamed(context, () => new TextSink(context, counter));
    case "bytes":
      return unstreamed(context, () => new BytesSink(context, bytesHead(headers)));
    case "unclear":
      return new SniffingSink((isEvents) =>
        isEvents ? streamSink(context, head, counter) : wholeSink(context, head, counter, false),
      );
    case "events":
      return context.request.spec.stream ? streamSink(context, head, counter) : wholeSink(context, head, counter, true);
    case "json":
      return wholeSink(context, head, counter, false);
    case "other":
      context.finish({
        kind: "failed",
        failure: unreadable(new Error(`unexpected content type ${type.slice(0, 100)}`)),
      });
      return undefined;
  }
}

type Shape = "json" | "events" | "unclear" | "text" | "bytes" | "other";

function resolveShape(type: string, context: SinkContext): Shape {
  if (type.startsWith(EVENT_STREAM)) return "events";
  const { operation, stream } = context.request.spec;
  if (type === "" && operation === "audio.speech" && !stream) return "bytes";
  if (!isJson(type)) return resolveOtherShape(type, context);
  return stream && isFramedByEvents(context.target) ? "unclear" : "json";
}

/** Returns the shape of an answer whose content type is neither JSON nor events. */
function resolveOtherShape(type: string, { request, target }: SinkContext): Shape {
  const { operation, stream } = request.spec;
  const known = operation === "audio.speech" ? "bytes" : TEXT_OPERATIONS.has(operation) ? "text" : undefined;
  if (known) return PAGE.test(type) ? "other" : known;
  const isFramed = isFramedByEvents(target);
  if (!UNNAMED.test(type)) return isFramed ? "other" : "events";
  if (!stream) return "json";
  return isFramed ? "unclear" : "events";
}

function isFramedByEvents({ plan }: SinkContext["target"]): boolean {
  return (plan.route.framing ?? "sse") === "sse";
}

/** Sound and plain text cannot follow the head of a stream, so nothing may send that head from here on. */
function unstreamed(context: SinkContext, make: () => Sink): Sink | undefined {
  const { delivery } = context;
  if (delivery.keepAlive === undefined || !delivery.isHeadSent) {
    delivery.keepAlive = undefined;
    return make();
  }
  context.finish({ kind: "failed", failure: unreadable(new Error("the answer to a stream is none")) });
  return undefined;
}

function streamSink(context: SinkContext, head: AnswerHead, counter: TokenCounter): Sink {
  const { decoder, upstream } = readerFor(context, head);
  const { conversions, dialect } = decoder;
  const translation = conversions.length === 0 ? undefined : createStreamTranslation(conversions, dialect);
  return new StreamSink(context, { decoder, upstream, translation }, counter);
}

function wholeSink(context: SinkContext, head: AnswerHead, counter: TokenCounter, isEventStream: boolean): Sink {
  const { decoder, upstream } = readerFor(context, head);
  const { conversions } = decoder;
  const translate: AnswerTranslation =
    conversions.length === 0 ? undefined : (answer) => translateAnswer(conversions, answer);
  return new WholeSink(context, { decoder, upstream, translate, isEventStream }, counter);
}

function readerFor({ target, dialect }: SinkContext, { context, conversions, headers }: AnswerHead) {
  const { channel, plan } = target;
  const { provider, route, bridges } = plan;
  const decoder = createResponseDecoder({
    provider,
    route,
    bridges,
    conversions,
    context,
    channel,
    headers,
    maxEventBytes: MAX_EVENT_BYTES,
  });
  return { decoder, upstream: dialectById(decoder.dialect) ?? dialect };
}

function isJson(type: string): boolean {
  return type === "" || /^(application|text)\/([\w.+-]+\+)?json\b/.test(type);
}

function bytesHead(headers: Record<string, string>): Record<string, string> {
  const head: Record<string, string> = { "content-type": headers["content-type"] ?? "application/octet-stream" };
  const disposition = headers["content-disposition"];
  if (disposition) head["content-disposition"] = disposition;
  return head;
}
