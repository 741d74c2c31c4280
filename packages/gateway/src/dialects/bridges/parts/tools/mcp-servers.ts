// MCP servers that the vendor calls. Between bridges, a server is a hosted tool with the members of the Responses API,
// which has the most of them.
import { unsupportedParameter } from "../../../../lib/app-error.ts";
import { anyText, compact, isObject, isSet, list, object, objects, text } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";
import { unsupportedPart } from "../answer/refused.ts";
import { hostedTool, noteOptions } from "./hosted-tools.ts";

/** Returns the servers of a messages request with the tools that their toolsets name; without a toolset, all tools. */
export function listMcpServers(body: JsonObject): JsonObject[] {
  const toolsets = new Map(
    objects(body, "tools")
      .filter(isToolset)
      .map((set) => [anyText(set, "mcp_server_name"), set]),
  );
  return objects(body, "mcp_servers").map((server) => {
    const { name, url, authorization_token, tool_configuration } = server;
    const configuration = isObject(tool_configuration) ? tool_configuration : undefined;
    const toolset = toolsets.get(typeof name === "string" ? name : "");
    return hostedTool(
      "mcp",
      "mcp_servers",
      compact({
        server_label: name,
        server_url: url,
        authorization: authorization_token ?? undefined,
        allowed_tools: allowedIn(configuration) ?? toolsIn(toolset),
        require_approval: "never",
      }),
    );
  });
}

export function isToolset(tool: JsonObject): boolean {
  return tool["type"] === "mcp_toolset";
}

function allowedIn(configuration: JsonObject | undefined): JsonObject["allowed_tools"] {
  if (configuration?.["enabled"] === false) return [];
  return isSet(configuration?.["allowed_tools"]) ? configuration["allowed_tools"] : undefined;
}

/**
 * Returns the tools that a toolset switches on one by one if they are off by default. Other protocols cannot express
 * tools that are switched off one by one.
 */
function toolsIn(toolset: JsonObject | undefined): string[] | undefined {
  const configs = object(toolset, "configs") ?? {};
  const isOn = (config: unknown) => isObject(config) && config["enabled"] !== false;
  if (object(toolset, "default_config")?.["enabled"] === false)
    return Object.keys(configs).filter((name) => isOn(configs[name]));
  const off = Object.keys(configs).find((name) => !isOn(configs[name]));
  if (off !== undefined) throw unsupportedParameter("tools.mcp_toolset.configs", "Allow tools by name instead.");
  return undefined;
}

const CARRIED = [
  "server_label",
  "server_url",
  "authorization",
  "allowed_tools",
  "require_approval",
  "server_description",
];
/**
 * Members that are refused, because connectors and headers are the vendor's own. Approval is refused too, because this
 * vendor would not ask the user.
 */
const REFUSED = ["connector_id", "headers"];

/** Returns the members of a messages request for MCP servers. */
export function messagesServers(servers: readonly JsonObject[], context: BridgeContext): JsonObject {
  if (servers.length === 0) return {};
  const mcp_servers = servers.map((server) => {
    checkServer(server, context);
    return compact({
      type: "url",
      url: server["server_url"],
      name: server["server_label"],
      authorization_token: server["authorization"],
    });
  });
  return { mcp_servers };
}

/** Returns the tool of a messages request that offers a server's tools. */
export function buildMcpToolset(server: JsonObject): JsonObject {
  const allowed = namesIn(server["allowed_tools"]);
  return compact({
    type: "mcp_toolset",
    mcp_server_name: server["server_label"],
    default_config: allowed && { enabled: false },
    configs: allowed && Object.fromEntries(allowed.map((name) => [name, { enabled: true }])),
  });
}

function namesIn(allowed: JsonObject[string]): string[] | undefined {
  if (!isSet(allowed)) return undefined;
  const names = isObject(allowed) ? list(allowed, "tool_names") : Array.isArray(allowed) ? allowed : [];
  return names.filter((name) => typeof name === "string");
}

function checkServer(server: JsonObject, context: BridgeContext): void {
  const refused = REFUSED.find((name) => isSet(server[name]));
  if (refused !== undefined) throw unsupportedPart(`tools.mcp.${refused}`, context);
  if (text(server, "server_url") === undefined) throw unsupportedPart("tools.mcp", context);
  if (server["require_approval"] !== "never")
    throw unsupportedParameter("tools.mcp.require_approval", "Only `never` is known to the vendor of this model.");
  noteOptions(server, CARRIED, context);
}

/** Returns the tool of a Responses request for an MCP server. */
export function toMcpTool(server: JsonObject): JsonObject {
  const { kind: _kind, name: _name, called: _called, ...members } = server;
  return { type: "mcp", ...members };
}
