import { describe, expect, it } from "vitest";
import {
  createBridgeContext,
  createUpstreamCall,
  createExchange,
  readJson,
} from "../../../../test/kit/provider-kit.ts";
import { chatBridge } from "./chat.ts";
import { difyExchange } from "./exchange.ts";

const URL = "https://dify.example/v1/chat-messages";

describe("dify", () => {
  it("uploads inline images first", async () => {
    const content = [
      { type: "text", text: "What?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
      { type: "image_url", image_url: { url: "https://x.example/a.png" } },
    ];
    const body = chatBridge
      .begin(createBridgeContext())
      .request({ messages: [{ role: "user", content }], user: "u-1" });
    const { context, calls } = createExchange([{ status: 201, json: { id: "file-1" } }, { json: { answer: "a" } }]);
    const answer = await difyExchange(createUpstreamCall(URL, body, { authorization: "Bearer app" }), context);
    expect(await readJson(answer)).toEqual({ answer: "a" });
    expect(calls.map((call) => call.url.pathname)).toEqual(["/v1/files/upload", "/v1/chat-messages"]);
    const form = calls[0]?.body?.toString() ?? "";
    expect(form).toContain('name="user"\r\n\r\nu-1\r\n');
    expect(form).toContain('filename="image.png"\r\ncontent-type: image/png\r\n\r\nhi\r\n');
    expect((JSON.parse(calls[1]?.body?.toString() ?? "") as { files: unknown }).files).toEqual([
      { type: "image", transfer_method: "local_file", upload_file_id: "file-1" },
      { type: "image", transfer_method: "remote_url", url: "https://x.example/a.png" },
    ]);
  });

  it("asks agent apps for a stream when they refuse a blocking call", async () => {
    const refusal = {
      status: 400,
      json: { code: "invalid_param", message: "Agent Chat App does not support blocking mode" },
    };
    const { context, calls } = createExchange([refusal, { json: {} }]);
    await difyExchange(createUpstreamCall(URL, { response_mode: "blocking" }), context);
    expect(calls.map((call) => call.body?.toString())).toEqual([
      '{"response_mode":"blocking"}',
      '{"response_mode":"streaming"}',
    ]);
  });

  it("hands other refusals on", async () => {
    const { context } = createExchange([
      { status: 400, json: { code: "invalid_param", message: "query is required" } },
    ]);
    const answer = await difyExchange(createUpstreamCall(URL, { response_mode: "blocking" }), context);
    expect(await readJson(answer)).toEqual({ code: "invalid_param", message: "query is required" });
  });

  it("sends only the last message to a conversation that the client names", () => {
    const messages = [
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: "three" },
    ];
    const metadata = { conversation_id: "c-1", inputs: '{"city":"Oslo"}' };
    expect(chatBridge.begin(createBridgeContext()).request({ messages, metadata })).toMatchObject({
      query: "three",
      conversation_id: "c-1",
      inputs: { city: "Oslo" },
    });
  });
});
