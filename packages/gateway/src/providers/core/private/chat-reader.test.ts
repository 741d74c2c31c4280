import { describe, expect, it } from "vitest";
import { createBridgeContext } from "../../../../test/kit/provider-kit.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { chatBridge as baidu } from "../../vendors/baidu/chat.ts";
import { chatBridge as coze } from "../../vendors/coze/chat.ts";
import { chatBridge as spark } from "../../vendors/spark/chat.ts";
import { chatBridge as tencent } from "../../vendors/tencent/chat.ts";
import { v3Bridge as zhipu } from "../../vendors/zhipu/v3.ts";

const user = (part: JsonObject): JsonObject => ({
  model: "m",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }, part] }],
});
const image = user({ type: "image_url", image_url: { url: "https://i.example/1.png" } });

describe("parts of messages", () => {
  it.each([
    ["Baidu", baidu],
    ["Coze", coze],
    ["Spark", spark],
    ["Zhipu's first API", zhipu],
  ])("that %s cannot see are refused", (_name, bridge) => {
    expect(() => bridge.begin(createBridgeContext()).request(image)).toThrow(
      "messages.content.image_url cannot be used",
    );
  });

  it("that Tencent sees are sent", () => {
    const context = createBridgeContext();
    expect(JSON.stringify(tencent.begin(context).request(image))).toContain(
      '"ImageUrl":{"Url":"https://i.example/1.png"}',
    );
    expect(context.lost).toEqual([]);
  });

  it.each(["input_audio", "file", "video_url"])("of the kind %s are refused", (type) => {
    for (const bridge of [baidu, coze, spark, tencent, zhipu])
      expect(() => bridge.begin(createBridgeContext()).request(user({ type }))).toThrowError(/messages/);
  });
});

it("formats become words where the vendor has no switch", () => {
  const body = { model: "m", messages: [{ role: "user", content: "Hi" }], response_format: { type: "json_object" } };
  const reported = "Answer with one valid JSON object and nothing else.";
  const context = createBridgeContext();
  expect(tencent.begin(context).request(body)["Messages"]).toEqual([
    { Role: "system", Content: reported },
    { Role: "user", Content: "Hi" },
  ]);
  expect(JSON.stringify(spark.begin(context).request(body))).toContain(reported);
  expect(context.lost).toEqual([]);
});

it("choices of tools that the vendor does not know are named", () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const body = { model: "m", messages: [{ role: "user", content: "Hi" }], tools, tool_choice: "required" };
  const context = createBridgeContext();
  baidu.begin(context).request(body);
  spark.begin(context).request(body);
  expect(context.lost).toEqual(["tool_choice", "tool_choice"]);
});
