import { encodeBlock, parseEvents } from "../../src/lib/text/sse.ts";
import { beginConversions, translateAnswer, translateRequest } from "../../src/relay/conversion/translate.ts";
import { findBridges } from "../../src/dialects/find-bridges.ts";
import type { BridgeContext } from "../../src/dialects/core/bridge.ts";
import type { RequestSpec, DialectId, JsonObject, StreamEvent, Usage } from "../../src/dialects/core/types.ts";

/** One conversion from a client to an upstream, step by step. */
export interface Run {
  readonly dropped: string[];
  request(body: object): JsonObject;
  answer(body: object): JsonObject;
  /** Data of the client's events. */
  stream(events: readonly object[], counted?: Usage): JsonObject[];
}

export function run(
  client: DialectId,
  upstream: DialectId,
  upstreamModel: string,
  more: Partial<RequestSpec> = {},
): Run {
  const found = findBridges(client, upstream);
  if (found === undefined) throw new Error(`no way from ${client} to ${upstream}`);
  const dropped: string[] = [];
  const spec: RequestSpec = {
    operation: "chat",
    dialect: client,
    model: "asked",
    stream: true,
    wantsStreamUsage: true,
    outputCap: undefined,
    promptEstimate: 30,
    units: 1,
    ...more,
  };
  const context: BridgeContext = {
    spec,
    upstreamModel,
    requestId: "01R",
    now: 1_790_000_000_000,
    setting: {},
    dropped: (field) => void dropped.push(field),
  };
  const conversions = beginConversions(found, context);
  const plain = (json: JsonObject) => JSON.parse(JSON.stringify(json)) as JsonObject;
  return {
    dropped,
    request: (body) => plain(translateRequest(conversions, body as JsonObject)),
    answer: (body) => plain(translateAnswer(conversions, body as JsonObject)),
    stream(events, counted) {
      const steps = conversions.toReversed().map((conversion) => conversion.stream());
      const through = (list: readonly StreamEvent[], from: number) =>
        steps.slice(from).reduce((current, step) => current.flatMap((event) => step.event(event)), [...list]);
      const sent = parseEvents(Buffer.from(events.map((event) => encodeBlock(JSON.stringify(event))).join("")));
      const out = through(sent, 0);
      for (const [at, step] of steps.entries()) out.push(...through(step.end(counted), at + 1));
      return out.flatMap(({ data }) => (data ? [plain(data)] : []));
    },
  };
}
