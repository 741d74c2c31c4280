import { describe, expect, it } from "vitest";
import {
  createRequestSpec,
  createBridgeContext,
  createUpstreamCall,
  createChannelRecord,
  listEventData,
  event,
} from "../../../../test/kit/provider-kit.ts";
import { planFor } from "../../../relay/selection/plan.ts";
import { cloudflare } from "./cloudflare.ts";
import { completionsBridge } from "./completions.ts";

const spec = createRequestSpec({
  operation: "completions",
  dialect: "openai-completions",
  model: "@cf/meta/llama-3.1-8b-instruct",
});

describe("completions on Workers AI", () => {
  it("go to the model's own path, with a limit that does not cut", () => {
    const channel = createChannelRecord({ type: 39, other: "acc" });
    const route = planFor(channel, spec, spec.model)?.route;
    expect(typeof route?.path === "function" && route.path(spec, spec.model, channel, "t")).toBe(
      "/client/v4/accounts/acc/ai/run/@cf/meta/llama-3.1-8b-instruct",
    );
    const context = createBridgeContext({ spec });
    expect(
      completionsBridge.begin(context).request({ model: spec.model, prompt: ["a"], echo: true, stream: false }),
    ).toEqual({
      prompt: "a",
      max_tokens: 2048,
    });
    expect(context.lost).toEqual(["echo"]);
    expect(() => completionsBridge.begin(context).request({ prompt: [1, 2] })).toThrow();
    expect(() => completionsBridge.begin(context).request({ prompt: "a", n: 2 })).toThrow();
  });

  it("answer with text and usage, whole and streamed", () => {
    const context = createBridgeContext({ spec });
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    expect(
      completionsBridge.begin(context).response({ result: { response: "hello", usage }, success: true }),
    ).toMatchObject({
      object: "text_completion",
      choices: [{ text: "hello", finish_reason: "stop" }],
      usage,
    });
    const stream = completionsBridge.begin(context).stream();
    const events = [event({ response: "he", p: "ab" }), event({ response: "", usage }), event({ response: "llo" })];
    const said = [
      ...events.flatMap((one) => [...stream.event(one)]),
      ...stream.event({ event: undefined, data: undefined, raw: "[DONE]" }),
    ];
    expect(listEventData(said)).toMatchObject([
      { choices: [{ text: "he", finish_reason: null }] },
      { choices: [{ text: "llo" }] },
      { choices: [{ text: "", finish_reason: "stop" }] },
      { choices: [], usage },
      "[DONE]",
    ]);
  });

  it("take the account from the key", async () => {
    const channel = createChannelRecord({ type: 39, other: "" });
    const call = createUpstreamCall("https://h/", {});
    const context = { key: "acc|token", now: 0, http: () => Promise.reject(new Error("none")), clientHeaders: {} };
    await cloudflare.authorize(call, channel, context);
    expect(call.headers["authorization"]).toBe("Bearer token");
    const chat = planFor(channel, createRequestSpec(), "m")?.route.path;
    expect(typeof chat === "function" && chat(spec, "m", channel, "acc|token")).toContain("/accounts/acc/ai/v1/");
  });
});
