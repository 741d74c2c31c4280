import { expect, it } from "vitest";
import { createRequestSpec, createChannelRecord } from "../../../../test/kit/provider-kit.ts";
import { buildRunBlocks } from "../../../dialects/bridges/parts/tools/hosted-runs.ts";
import { ownRuns } from "./own-runs.ts";

const spec = createRequestSpec({ dialect: "anthropic-messages" });
const apply = (content: object[]) =>
  ownRuns.apply({ messages: [{ role: "assistant", content }] } as never, spec, "claude", createChannelRecord());

it("a search that another vendor made is text for Claude, and its sources are not cited", () => {
  const search = { kind: "web_search", queries: ["q"], sources: [{ url: "https://a.example", title: "A" }] };
  const citations = [{ type: "web_search_result_location", url: "https://a.example", encrypted_index: "" }];
  const blocks = buildRunBlocks(search, 0, { requestId: "01R" } as never);
  expect(apply([...blocks, { type: "text", text: "found", citations }])["messages"]).toEqual([
    {
      role: "assistant",
      content: [
        { type: "text", text: expect.stringContaining('"query":"q"') as string },
        { type: "text", text: expect.stringContaining("https://a.example") as string },
        { type: "text", text: "found" },
      ],
    },
  ]);
});

it("code that another vendor ran is text for Claude, with its output", () => {
  const code = { kind: "code_execution", language: "python", code: "1+1", output: "two", errors: "", status: 0 };
  const blocks = buildRunBlocks({ ...code, isDone: true }, 0, { requestId: "01R" } as never);
  const shown = ['"code":"1+1"', '"stdout":"two"'];
  const content = shown.map((part) => ({ type: "text", text: expect.stringContaining(part) as string }));
  expect(apply(blocks)["messages"]).toEqual([{ role: "assistant", content }]);
});

it("a search of its own stays byte for byte", () => {
  const content = [
    { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: { query: "q" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_01", content: [] },
    { type: "text", text: "found", citations: [{ encrypted_index: "x" }] },
  ];
  const body = { messages: [{ role: "assistant", content }] } as never;
  expect(ownRuns.apply(body, spec, "claude", createChannelRecord())).toBe(body);
});
