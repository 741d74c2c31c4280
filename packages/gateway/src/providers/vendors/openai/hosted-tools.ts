import { isObject, list, objects, text } from "../../../dialects/core/read.ts";
import type { Body, RequestSpec } from "../../../dialects/core/types.ts";

const CLAUDE = /^(?:web_search|code_execution)_\d{8}$/;
const GEMINI = new Set(["googleSearch", "google_search", "codeExecution", "code_execution"]);

/** Clients of other vendors that ask for nothing but a search or for running code: only the Responses API has them. */
export function needsHostedTools({ dialect }: RequestSpec, body: Body | undefined): boolean {
  if (body === undefined) return false;
  if (dialect === "anthropic-messages") {
    const tools = objects(body.json(), "tools");
    return tools.length > 0 && tools.every((tool) => CLAUDE.test(text(tool, "type") ?? ""));
  }
  if (dialect !== "gemini-generate") return false;
  const tools = list(body.json(), "tools");
  return tools.length > 0 && tools.every((tool) => isObject(tool) && Object.keys(tool).every((key) => GEMINI.has(key)));
}
