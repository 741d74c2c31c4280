// An MCP server on standard input and output with one tool, for agents that start their own servers: it answers with a
// mark.
import { createInterface } from "node:readline";
import { MARK, MARK_TOOL, SERVER } from "./mark.ts";

interface Call {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

const TOOL = {
  name: MARK_TOOL,
  description: "Tells the mark of the harbour.",
  inputSchema: { type: "object", properties: { place: { type: "string" } }, additionalProperties: false },
  annotations: { readOnlyHint: true },
};

const RESULTS: Readonly<Record<string, (call: Call) => object>> = {
  initialize: ({ params }) => ({
    protocolVersion: params?.protocolVersion ?? "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: SERVER, version: "1.0.0" },
    instructions: "Knows the harbour.",
  }),
  "tools/list": () => ({ tools: [TOOL] }),
  "tools/call": () => ({ content: [{ type: "text", text: MARK }] }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line) as Call;
  if (call.id === undefined) continue;
  const result = RESULTS[call.method]?.(call);
  const error = { code: -32_601, message: `there is no ${call.method}` };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: call.id, ...(result ? { result } : { error }) })}\n`);
}
