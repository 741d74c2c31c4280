// The last step of a conversion to chat completions: members that only bridges read are removed, and what the real
// protocol has no place for is refused or reported as dropped.
import { unsupportedParameter } from "../../../../lib/app-error.ts";
import { isObject, isSet, list, object, objects } from "../../../core/read.ts";
import type { Bridge, BridgeContext, ChatServer, Conversion, StreamBridge } from "../../../core/bridge.ts";
import type { JsonObject, JsonValue, StreamEvent } from "../../../core/types.ts";
import { keepingExtras, PreservedExtras, withExtras } from "../tools/call-extras.ts";
import { legacyAnswer, legacyEvents, offersLegacyFunctions } from "../tools/legacy-functions.ts";
import { settleHosted } from "../tools/hosted-tools.ts";
import { FILE_INSIDE } from "./refused.ts";
import { withLeastEffort } from "../reasoning/least-effort.ts";
import { echoReasoning, readsReasoning } from "../reasoning/reasoning-echo.ts";
import { SealedDetails, sealedAnswer, withDetails } from "../reasoning/sealed-details.ts";

/** The limit of a server for which no other one is set. */
const MAX_STOPS = 4;
/** Features whose loss a client would notice. */
const STATED: Readonly<Record<string, string>> = {
  fw_top_k: "top_k",
  fw_cache_control: "cache_control",
  fw_thinking: "messages.thinking",
  fw_is_error: "messages.tool_result.is_error",
};

/** The members in which clients give the address of a document. */
const FILE_ADDRESS: Readonly<Record<string, string>> = {
  "anthropic-messages": "document.source.url",
  "gemini-generate": "fileData.fileUri",
  "openai-responses": "input_file.file_url",
};

/** Adapts a bridge to real chat upstreams: requests hold no extensions, answers hold what clients must send back. */
export function finishInChatUpstream(bridge: Bridge): Bridge {
  return {
    ...bridge,
    begin(context) {
      const inner = bridge.begin(context);
      return {
        request: (body) => plainRequest(settleHosted(inner.request(body), undefined, context), context),
        response: (body) => inner.response(keepingExtras(sealedAnswer(requireChoice(body), context), context)),
        stream: () => new PreservedExtras(new SealedDetails(inner.stream(), context), context),
      };
    },
  };
}

/** Adapts a bridge to real chat clients: its answers hold no extensions. */
export function servingChatClients(bridge: Bridge): Bridge {
  return { ...bridge, begin: (context) => new ForChatClient(bridge.begin(context)) };
}

class ForChatClient implements Conversion {
  readonly #inner: Conversion;
  #readsLegacyCalls = false;

  constructor(inner: Conversion) {
    this.#inner = inner;
  }

  request(body: JsonObject): JsonObject {
    this.#readsLegacyCalls = offersLegacyFunctions(body);
    return this.#inner.request(body);
  }

  response(body: JsonObject): JsonObject {
    const plain = withoutExtensions(this.#inner.response(body));
    return this.#readsLegacyCalls ? legacyAnswer(plain) : plain;
  }

  stream(): StreamBridge {
    const stream = this.#inner.stream();
    const plain = (events: StreamEvent[]) => {
      const written = events.flatMap(plainEvent);
      return this.#readsLegacyCalls ? legacyEvents(written) : written;
    };
    return { event: (event) => plain(stream.event(event)), end: (counted) => plain(stream.end(counted)) };
  }
}

/** Returns the answer; throws if it has no choice, because there is nothing to convert. */
function requireChoice(body: JsonObject): JsonObject {
  if (list(body, "choices").length === 0) throw new Error("the answer has no choice");
  return body;
}

function plainRequest(asked: JsonObject, context: BridgeContext): JsonObject {
  refuseUnreadableFiles(asked, context);
  const detailed = withDetails(withExtras(asked, context), context);
  const echoed = readsReasoning(context.upstreamModel) ? echoReasoning(detailed) : detailed;
  const body = withTopK(withLeastEffort(echoed, context), context);
  const stops = list(body, "stop");
  const maxStops = findChatServer(context)?.maxStops ?? MAX_STOPS;
  if (stops.length > maxStops) context.dropped("stop");
  const lost = new Set<string>();
  const plain = withoutExtensions(body, lost);
  for (const key of lost) if (STATED[key] !== undefined) context.dropped(STATED[key]);
  return stops.length > maxStops ? { ...plain, stop: stops.slice(0, maxStops) } : plain;
}

/** OpenAI's own models, which follow the protocol exactly wherever they are served. */
const OF_OPENAI = /^(?:openai\/)?(?:gpt-\d|o\d|chatgpt-)/;

function findChatServer({ chatServer, upstreamModel }: BridgeContext): ChatServer | undefined {
  return OF_OPENAI.test(upstreamModel) ? undefined : chatServer;
}

function withTopK(body: JsonObject, context: BridgeContext): JsonObject {
  if (findChatServer(context)?.takesTopK !== true || !isSet(body["fw_top_k"])) return body;
  const { fw_top_k: top_k, ...rest } = body;
  return { top_k, ...rest };
}

/** Refuses a document that has only an address: this protocol takes files by content or id. */
function refuseUnreadableFiles(body: JsonObject, { spec }: BridgeContext): void {
  for (const message of objects(body, "messages")) {
    for (const part of objects(message, "content")) {
      const file = object(part, "file");
      if (file?.["fw_url"] !== undefined) throw unsupportedParameter(FILE_ADDRESS[spec.dialect] ?? "file", FILE_INSIDE);
    }
  }
}

/** Returns the object without members whose names begin with `fw_`, at any depth. */
function withoutExtensions(body: JsonObject, lost?: Set<string>): JsonObject {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(body)) {
    if (key.startsWith("fw_")) lost?.add(key);
    else out[key] = strip(value, lost);
  }
  return out;
}

function strip(value: JsonValue | undefined, lost: Set<string> | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => strip(item, lost) ?? null);
  return isObject(value) ? withoutExtensions(value, lost) : value;
}

/** Removes extensions from a chunk; a chunk that held nothing else is swallowed. */
function plainEvent(event: StreamEvent): StreamEvent[] {
  if (event.data === undefined) return [event];
  const choices = objects(event.data, "choices");
  if (!choices.some(hasExtension)) return [event];
  const data = withoutExtensions(event.data);
  const isEmpty = objects(data, "choices").every(
    (choice) => choice["finish_reason"] === null && Object.keys(object(choice, "delta") ?? {}).length === 0,
  );
  return isEmpty ? [] : [{ ...event, data }];
}

function hasExtension(choice: JsonObject): boolean {
  const isOne = (key: string) => key.startsWith("fw_");
  return Object.keys(choice).some(isOne) || Object.keys(object(choice, "delta") ?? {}).some(isOne);
}
