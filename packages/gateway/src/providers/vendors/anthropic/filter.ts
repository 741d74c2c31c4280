import type { ChannelRecord, HostFilter } from "../../core/types.ts";
import { hostOf, rulesOf } from "./find-host.ts";
import { betasOf, filteredFor, withNeededBetas } from "./host-filter.ts";
import { refusedNames } from "./host-refusals.ts";
import type { MessagesHost } from "./host-rules.ts";

/** Values of the channel's setting `filters`. */
export const FILTERS = ["on", "off"] as const;

/** The filter of channels whose host follows from their type or their base URL. `filters: off` sends everything. */
export function messagesFilter(host: (channel: ChannelRecord) => MessagesHost): HostFilter {
  return {
    on: ["anthropic-messages", "anthropic-count-tokens"],
    host,
    apply(asked, { channel, upstreamModel, isConverted, learned }) {
      const found = host(channel);
      const request = isConverted ? withNeededBetas(asked) : asked;
      const takesAll = found === "anthropic" && learned === undefined;
      if (takesAll || channel.setting["filters"] === "off") return { ...request, dropped: [] };
      return filteredFor(rulesOf(found, upstreamModel), request, learned);
    },
    refused: (message, sent) => refusedNames(message, betasOf(sent)),
  };
}

export const anthropicFilter = messagesFilter(({ baseUrl }) => hostOf(baseUrl));
