import type { ChannelRecord, HostFilter } from "../../core/types.ts";
import { findHost, overridden, findHostRules } from "./find-host.ts";
import { BETA_HEADER, listBetas, filteredFor, withNeededBetas } from "./host-filter.ts";
import { refusedNames } from "./host-refusals.ts";
import { KNOWN_BETAS, type MessagesHost } from "./host-rules.ts";

/** Values of the channel's setting `filters`. */
export const FILTERS = ["on", "off"] as const;

/**
 * Builds the filter of channels whose host follows from their type or their base URL. `filters: off` sends everything.
 */
export function messagesFilter(host: (channel: ChannelRecord) => MessagesHost): HostFilter {
  return {
    on: ["anthropic-messages", "anthropic-count-tokens"],
    host,
    apply(asked, { channel, upstreamModel, isConverted, overrides, learned }) {
      const found = host(channel);
      const request = isConverted ? withNeededBetas(asked) : asked;
      const own = [overrides?.[found], overrides?.[String(channel.id)]].filter((one) => one !== undefined);
      const takesAll = found === "anthropic" && learned === undefined && own.length === 0;
      if (takesAll || channel.setting["filters"] === "off") return { ...request, dropped: [] };
      return filteredFor(own.reduce(overridden, findHostRules(found, upstreamModel)), request, learned);
    },
    refused: (message, sent) => refusedNames(message, listBetas(sent)),
    betas: { header: BETA_HEADER, names: KNOWN_BETAS, read: listBetas },
  };
}

export const anthropicFilter = messagesFilter(({ baseUrl }) => findHost(baseUrl));
