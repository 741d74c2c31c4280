import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

type Protocol = "openai-chat" | "anthropic-messages" | "gemini-generate" | "openai-responses";

const MODELS: Readonly<Record<Protocol, string>> = {
  "openai-chat": "some-model",
  "anthropic-messages": "claude-sonnet-4-5",
  "gemini-generate": "gemini-3-pro",
  "openai-responses": "gpt-5.2",
};
const hi = { role: "user", content: "hi" };
const place = { city: "Berlin", country: "DE" };

/** Requests of clients for only a search, with its options. */
const SEARCH: Readonly<Record<Protocol, JsonObject>> = {
  "openai-chat": {
    messages: [hi],
    web_search_options: { user_location: { type: "approximate", approximate: place } },
  },
  "anthropic-messages": {
    max_tokens: 99,
    messages: [hi],
    tools: [{ type: "web_search_20250305", name: "web_search", user_location: { type: "approximate", ...place } }],
  },
  "gemini-generate": { contents: [{ role: "user", parts: [{ text: "hi" }] }], tools: [{ googleSearch: {} }] },
  "openai-responses": {
    input: [hi],
    tools: [{ type: "web_search", user_location: { type: "approximate", ...place } }],
  },
};
const SEARCHES: Partial<Record<Protocol, JsonObject>> = {
  "anthropic-messages": { type: "web_search_20250305", name: "web_search" },
  "gemini-generate": { googleSearch: {} },
  "openai-responses": { type: "web_search" },
};
const clients = Object.keys(SEARCH) as Protocol[];
const pairs = clients.flatMap((client) =>
  clients.filter((upstream) => upstream !== client).map((upstream) => [client, upstream] as const),
);

describe("a search alone", () => {
  it.each(pairs)("of %s clients on %s upstreams is made, or refused where there is none", (client, upstream) => {
    const bridge = run(client, upstream, MODELS[upstream]);
    const search = SEARCHES[upstream];
    if (search === undefined) {
      expect(() => bridge.request(SEARCH[client])).toThrow(/cannot be used/);
      return;
    }
    const body = bridge.request(SEARCH[client]);
    expect(body["tools"]).toMatchObject([search]);
    const keepsPlace = client !== "gemini-generate" && upstream !== "gemini-generate";
    if (keepsPlace) expect(JSON.stringify(body["tools"])).toContain('"city":"Berlin"');
    else if (upstream === "gemini-generate") expect(bridge.dropped.join()).toContain("user_location");
  });

  it("may be forced where the upstream can be", () => {
    const forced = { ...SEARCH["openai-responses"], tool_choice: { type: "web_search" } };
    const claude = run("openai-responses", "anthropic-messages", "claude-sonnet-4-5");
    expect(claude.request(forced)["tool_choice"]).toEqual({ type: "tool", name: "web_search" });
    const gemini = run("openai-responses", "gemini-generate", "gemini-3-pro");
    expect(() => gemini.request(forced)).toThrow("tool_choice");
  });

  it("that keeps to some addresses is refused where no one would keep to them", () => {
    const tools = [{ type: "web_search", filters: { allowed_domains: ["a.example"] } }];
    const asked = { input: [hi], tools };
    expect(run("openai-responses", "anthropic-messages", "claude-sonnet-4-5").request(asked)["tools"]).toEqual([
      { type: "web_search_20250305", name: "web_search", allowed_domains: ["a.example"] },
    ]);
    expect(() => run("openai-responses", "gemini-generate", "gemini-3-pro").request(asked)).toThrow("allowed_domains");
  });
});

describe("code and addresses", () => {
  const code = { input: [hi], tools: [{ type: "code_interpreter", container: { type: "auto" } }] };
  it("are tools of the other vendor", () => {
    expect(run("openai-responses", "gemini-generate", "gemini-3-pro").request(code)["tools"]).toEqual([
      { codeExecution: {} },
    ]);
    expect(run("openai-responses", "anthropic-messages", "claude-sonnet-4-5").request(code)["tools"]).toEqual([
      { type: "code_execution_20250825", name: "code_execution" },
    ]);
    const fetched = { ...SEARCH["gemini-generate"], tools: [{ urlContext: {} }] };
    expect(run("gemini-generate", "anthropic-messages", "claude-sonnet-4-5").request(fetched)["tools"]).toEqual([
      { type: "web_fetch_20250910", name: "web_fetch" },
    ]);
    expect(() => run("gemini-generate", "openai-responses", "gpt-5.2").request(fetched)).toThrow("tools.urlContext");
  });

  it("of a container with files are refused elsewhere, as are servers of MCP that the user has to approve", () => {
    const filled = {
      ...code,
      tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["file-1"] } }],
    };
    const claude = run("openai-responses", "anthropic-messages", "claude-sonnet-4-5");
    expect(() => claude.request(filled)).toThrow("tools.code_interpreter");
    const mcp = { ...code, tools: [{ type: "mcp", server_label: "s", server_url: "https://s.example" }] };
    expect(() => claude.request(mcp)).toThrow("tools.mcp.require_approval");
    const account = { type: "mcp", server_label: "s", connector_id: "connector_gmail", require_approval: "never" };
    expect(() => claude.request({ ...code, tools: [account] })).toThrow("tools.mcp.connector_id");
    expect(() => run("openai-responses", "gemini-generate", "gemini-3-pro").request(mcp)).toThrow("tools.mcp");
  });
});

it("what a search found is cited in the words of every client", () => {
  const answer = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [
      { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } },
      {
        type: "web_search_tool_result",
        tool_use_id: "s1",
        content: [{ type: "web_search_result", url: "https://a.example", title: "A", encrypted_content: "x" }],
      },
      {
        type: "text",
        text: "found",
        citations: [{ type: "web_search_result_location", url: "https://a.example", title: "A", cited_text: "f" }],
      },
    ],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  for (const client of ["openai-chat", "gemini-generate", "openai-responses"] as const) {
    const said = JSON.stringify(run(client, "anthropic-messages", "claude-sonnet-4-5").answer(answer));
    expect(said).toContain("https://a.example");
    expect(said).toContain("found");
  }
});

describe("a server of MCP", () => {
  const claude = {
    max_tokens: 9,
    messages: [hi],
    mcp_servers: [{ type: "url", url: "https://s.example/mcp", name: "s", authorization_token: "t" }],
    tools: [
      {
        type: "mcp_toolset",
        mcp_server_name: "s",
        default_config: { enabled: false },
        configs: { look: { enabled: true } },
      },
    ],
  };
  const openai = {
    input: [hi],
    tools: [
      {
        type: "mcp",
        server_label: "s",
        server_url: "https://s.example/mcp",
        authorization: "t",
        allowed_tools: ["look"],
        require_approval: "never",
      },
    ],
  };

  it("of either vendor is one of the other", () => {
    const ofClaude = run("openai-responses", "anthropic-messages", "claude-sonnet-4-5").request(openai);
    expect(ofClaude).toMatchObject({ mcp_servers: claude.mcp_servers, tools: claude.tools });
    expect(run("anthropic-messages", "openai-responses", "gpt-5.2").request(claude)["tools"]).toEqual(openai.tools);
  });

  it("with every tool, and one in the older words, keep what they offer", () => {
    const { tools: _tools, ...all } = claude;
    const asked = (body: JsonObject) => run("anthropic-messages", "openai-responses", "gpt-5.2").request(body)["tools"];
    expect(asked(all as JsonObject)).toEqual([{ ...openai.tools[0], allowed_tools: undefined }]);
    const older = { ...claude.mcp_servers[0], tool_configuration: { enabled: true, allowed_tools: ["look"] } };
    expect(asked({ ...all, mcp_servers: [older] } as JsonObject)).toEqual(openai.tools);
    const { allowed_tools: _allowed, ...whole } = openai.tools[0] ?? {};
    const back = run("openai-responses", "anthropic-messages", "claude").request({ input: [hi], tools: [whole] });
    expect(back["tools"]).toEqual([{ type: "mcp_toolset", mcp_server_name: "s" }]);
  });

  it("is refused by name where no one calls it, next to functions too", () => {
    const chat = () => run("anthropic-messages", "openai-chat", "m");
    expect(() => chat().request(claude)).toThrow("mcp_servers");
    const own = { name: "a", input_schema: { type: "object" } };
    expect(() => chat().request({ ...claude, tools: [...claude.tools, own] })).toThrow("mcp_servers");
  });

  it("that a model has called is shown with its answer", () => {
    const item = {
      type: "mcp_call",
      id: "mcp_1",
      server_label: "s",
      name: "look",
      arguments: '{"at":1}',
      output: "seen",
      error: null,
      status: "completed",
    };
    const response = { id: "r", model: "m", status: "completed", output: [item], usage: null };
    const blocks = [
      { type: "mcp_tool_use", name: "look", server_name: "s", input: { at: 1 } },
      { type: "mcp_tool_result", is_error: false, content: [{ type: "text", text: "seen" }] },
    ];
    const client = run("anthropic-messages", "openai-responses", "gpt-5.2");
    expect(client.answer(response)["content"]).toMatchObject(blocks);
    const events = [
      { type: "response.created", response },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ];
    expect(JSON.stringify(client.stream(events))).toContain("mcp_tool_result");
    // Text that is not JSON is not lost.
    const cut = { ...response, output: [{ ...item, arguments: '{"at":' }] };
    expect(client.answer(cut)["content"]).toMatchObject([{ input: { arguments: '{"at":' } }, {}]);
    const answer = {
      id: "msg_1",
      model: "m",
      content: [
        { ...blocks[0], id: "mcptoolu_1" },
        { ...blocks[1], tool_use_id: "mcptoolu_1" },
        { type: "text", text: "done" },
      ],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const { output } = run("openai-responses", "anthropic-messages", "claude").answer(answer) as {
      output: JsonObject[];
    };
    expect(output[0]).toMatchObject({ ...item, id: expect.stringMatching(/^mcp_/) as string });
  });
});

describe("a tool that the upstream does not run, next to functions", () => {
  const own = { type: "function", name: "f", parameters: { type: "object", properties: {} } };
  const ask = (upstream: Protocol, tool: JsonObject) => {
    const bridge = run("openai-responses", upstream, MODELS[upstream]);
    bridge.request({ input: [hi], tools: [own, tool] });
    return bridge.dropped;
  };

  it.each([{ type: "web_search" }, { type: "image_generation" }, { type: "from_the_future" }])(
    "is named where agents offer it in every request: $type",
    (tool) => {
      expect(ask("openai-chat", tool)).toEqual([`tools.${tool.type}`]);
    },
  );

  it.each([
    { type: "file_search", vector_store_ids: ["vs_1"] },
    { type: "code_interpreter", container: { type: "auto" } },
    { type: "mcp", server_label: "s", server_url: "https://s.example", require_approval: "never" },
    { type: "computer_use_preview", display_width: 1, display_height: 1, environment: "browser" },
  ])("is refused where it was set up for this request: $type", (tool) => {
    expect(() => ask("openai-chat", tool)).toThrow(`tools.${tool.type}`);
    expect(() => ask("gemini-generate", tool)).toThrow(`tools.${tool.type}`);
  });
});
