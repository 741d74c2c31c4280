import { isObject, list, objects, text } from "../../../dialects/core/read.ts";
import type { Body, RequestSpec } from "../../../dialects/core/types.ts";

const CLAUDE = /^(?:web_search|code_execution)_\d{8}$|^mcp_toolset$/;
const GEMINI = new Set(["googleSearch", "google_search", "codeExecution", "code_execution"]);

/**
 * True if a client of another vendor requests a search, a code run or an MCP server: only the Responses API has them.
 */
export function needsHostedTools({ dialect }: RequestSpec, body: Body | undefined): boolean {
  if (body === undefined) return false;
  if (dialect === "anthropic-messages") {
    const json = body.json();
    return (
      objects(json, "mcp_servers").length > 0 ||
      objects(json, "tools").some((tool) => CLAUDE.test(text(tool, "type") ?? ""))
    );
  }
  if (dialect !== "gemini-generate") return false;
  return list(body.json(), "tools").some((tool) => isObject(tool) && Object.keys(tool).some((key) => GEMINI.has(key)));
}
