// Tools that vendors define and their clients run, in front of upstreams that do not know them.
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { generateText, stepCountIs, streamText, type ToolSet } from "ai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  createChannel,
  createToken,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";

const COMMAND = { command: "create", path: "/memories/trip.md", file_text: "Paris" };
let upstream: Upstream;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([startUpstream(), startGateway()]);
  const root = await signIn(gateway.url);
  await setOptions(root, { SelfUseModeEnabled: "true" });
  await createChannel(root, { type: 43, base_url: upstream.url, models: "runner" });
  key = await createToken(root);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

/** The upstream calls the tool until it gets the result. */
function callsTool(name: string, args: object): void {
  upstream.script("/chat/completions", ({ json }) => {
    const hasResult = JSON.stringify(json?.["messages"]).includes('"role":"tool"');
    const call = { id: "call_1", type: "function", function: { name, arguments: JSON.stringify(args) } };
    const message = hasResult
      ? { role: "assistant", content: "Noted." }
      : { role: "assistant", content: null, tool_calls: [call] };
    const choice = { index: 0, message, finish_reason: hasResult ? "stop" : "tool_calls" };
    return { body: { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "runner", choices: [choice] } };
  });
}

test("memory of Anthropic's tool runner is written, and its result goes back", async () => {
  callsTool("memory", COMMAND);
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
  const written: object[] = [];
  const refuse = () => "not here";
  const memory = betaMemoryTool({
    view: refuse,
    str_replace: refuse,
    insert: refuse,
    delete: refuse,
    rename: refuse,
    create(command) {
      written.push(command);
      return "written";
    },
  });
  const messages = [{ role: "user" as const, content: "Remember that I go to Paris." }];
  const runner = anthropic.beta.messages.toolRunner({ model: "runner", max_tokens: 100, messages, tools: [memory] });
  const last = await runner;
  expect(written).toEqual([COMMAND]);
  expect(last.content).toMatchObject([{ type: "text", text: "Noted." }]);
  const [first, second] = upstream.requests.map(({ json }) => json);
  expect(first?.["tools"]).toMatchObject([
    { type: "function", function: { name: "memory", parameters: { required: ["command"] } } },
  ]);
  const result = { role: "tool", tool_call_id: "call_1", content: "written" };
  expect(second).toMatchObject({ messages: [{ role: "user" }, { role: "assistant" }, result] });
});

test("the shell and the patches of the AI SDK run, whole and streamed", async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const openai = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key });
  const ran: object[] = [];
  const tools = {
    shell: openai.tools.shell({
      execute({ action }) {
        ran.push(action.commands);
        return Promise.resolve({ output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exitCode: 0 } }] });
      },
    }),
    apply_patch: openai.tools.applyPatch({
      execute({ operation }) {
        ran.push(operation);
        return { status: "completed" as const, output: "done" };
      },
    }),
  };
  // The types of its tools are for an earlier version of their reader.
  const ask = {
    model: openai("runner"),
    tools: tools as object as ToolSet,
    prompt: "Go.",
    stopWhen: stepCountIs(3),
    maxRetries: 0,
  };
  const results = () =>
    upstream.requests
      .flatMap(({ json }) => json?.["messages"] as { role: string; content: string }[])
      .filter(({ role }) => role === "tool");
  callsTool("shell", { commands: ["ls"] });
  const whole = await generateText(ask);
  expect([whole.text, await streamText(ask).text]).toEqual(["Noted.", "Noted."]);
  expect(results()).toMatchObject(Array(2).fill({ content: expect.stringContaining("a.txt") as string }));
  upstream.reset();
  const patch = { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" };
  callsTool("apply_patch", patch);
  const patched = await generateText(ask);
  expect([patched.text, await streamText(ask).text]).toEqual(["Noted.", "Noted."]);
  expect(results()).toMatchObject(Array(2).fill({ content: "completed\ndone" }));
  expect(ran).toEqual([["ls"], ["ls"], patch, patch]);
});
