import { bridges } from "./bridges/index.ts";
import { finishInChatUpstream, servingChatClients } from "./bridges/parts/answer/extensions.ts";
import { settlingHosted } from "./bridges/parts/tools/hosted-tools.ts";
import { renameToolsIntoChat, renameToolsFromChat } from "./bridges/parts/tools/tool-names.ts";
import type { Bridge } from "./core/bridge.ts";
import type { DialectId } from "./core/types.ts";

const PIVOT: DialectId = "openai-chat";

/**
 * Returns the conversions from a client's protocol to an upstream's: none for the same protocol, a direct one, or two
 * over `openai-chat`; undefined if there are none. `extra` are a provider's own bridges; they win over the general
 * ones.
 */
export function findBridges(
  client: DialectId,
  upstream: DialectId,
  extra: readonly Bridge[] = [],
): readonly Bridge[] | undefined {
  if (client === upstream) return [];
  const direct = find(client, upstream, extra);
  if (direct !== undefined) return [plainAtPivot(withNames(direct))];
  const first = find(client, PIVOT, extra);
  const second = find(PIVOT, upstream, extra);
  return first !== undefined && second !== undefined
    ? [renameToolsIntoChat(first, second), settlingHosted(second)]
    : undefined;
}

function withNames(bridge: Bridge): Bridge {
  if (bridge.upstream === PIVOT) return renameToolsIntoChat(bridge, bridge);
  return bridge.client === PIVOT ? renameToolsFromChat(bridge) : bridge;
}

/**
 * Removes extensions at the ends: chat carries them between bridges, but real chat clients and upstreams never see
 * them.
 */
function plainAtPivot(bridge: Bridge): Bridge {
  if (bridge.upstream === PIVOT) return finishInChatUpstream(bridge);
  return bridge.client === PIVOT ? servingChatClients(settlingHosted(bridge)) : bridge;
}

function find(client: DialectId, upstream: DialectId, extra: readonly Bridge[]): Bridge | undefined {
  const joins = (bridge: Bridge) => bridge.client === client && bridge.upstream === upstream;
  return extra.find(joins) ?? bridges.find(joins);
}
