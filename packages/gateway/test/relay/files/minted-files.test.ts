import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { createTenant } from "../../kit/tenants.ts";

const MODEL = "claude-code-runner";
const FILE = "file_011CNha8iCJcU1wXNR6q4V8w";
const CODE = { tools: [{ type: "code_execution_20250825", name: "code_execution" }] };
const HEADERS = { "anthropic-version": "2023-06-01" };

eachDatabase("files that answers name", (open) => {
  let gateway: RelayApp;
  let mine = "";
  let theirs = "";
  let read: string[] = [];

  beforeAll(async () => {
    gateway = await startRelayApp({ FAIRWAY_DATABASE_URL: await open() });
    // A channel that would be chosen first for an upload, and is not the one that wrote the file.
    await gateway.channel("other-model", { type: 14, key: "sk-other", priority: 9 });
    await gateway.channel(MODEL, { type: 14, key: "sk-owner" });
    mine = await createTenant(gateway);
    theirs = await createTenant(gateway);
  }, 60_000);
  afterAll(() => gateway.close());
  beforeEach(() => {
    read = [];
    gateway.upstream.reset();
    gateway.upstream.script("/v1/messages", () => ({ body: answerWithFile() }));
    for (const [path, body] of [
      [`/v1/files/${FILE}`, { id: FILE, type: "file", filename: "plot.png", mime_type: "image/png", size_bytes: 4 }],
      [`/v1/files/${FILE}/content`, "PLOT"],
    ] as const)
      gateway.upstream.script(path, ({ headers, method }) => {
        read.push(`${method} ${path} ${String(headers["x-api-key"])}`);
        return { body };
      });
  });

  function answerWithFile() {
    const output = { type: "code_execution_output", file_id: FILE };
    return {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: MODEL,
      content: [
        { type: "bash_code_execution_tool_result", tool_use_id: "t", content: { type: "r", content: [output] } },
        { type: "text", text: "done" },
      ],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 5 },
    };
  }

  const get = (key: string, path: string) =>
    fetch(`${gateway.url}/v1/files${path}`, { headers: { ...HEADERS, "x-api-key": key } });

  it("are read by their owner at the account that wrote them, and do not exist for others", async () => {
    expect((await get(mine, `/${FILE}/content`)).status).toBe(404);
    const body = { model: MODEL, max_tokens: 50, messages: [{ role: "user", content: "plot" }], ...CODE };
    const answer = await gateway.post("/v1/messages", body, mine, {
      headers: { ...HEADERS, "x-api-key": mine, "content-type": "application/json" },
    });
    expect(await answer.json()).toEqual(answerWithFile());
    await expect.poll(async () => (await get(mine, `/${FILE}/content`)).status).toBe(200);
    expect(await (await get(mine, `/${FILE}/content`)).text()).toBe("PLOT");
    expect(new Set(read)).toEqual(
      new Set([`GET /v1/files/${FILE} sk-owner`, `GET /v1/files/${FILE}/content sk-owner`]),
    );
    const shown = (await (await get(mine, `/${FILE}`)).json()) as object;
    expect(shown).toMatchObject({ id: FILE, filename: "plot.png", mime_type: "image/png", size_bytes: 4 });
    const list = (await (await get(mine, "")).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual([FILE]);
    for (const path of [`/${FILE}`, `/${FILE}/content`]) expect((await get(theirs, path)).status).toBe(404);
  });
});
