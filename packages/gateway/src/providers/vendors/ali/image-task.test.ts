import { describe, expect, it } from "vitest";
import {
  createRequestSpec,
  createUpstreamCall,
  createChannelRecord,
  createExchange,
  readJson,
} from "../../../../test/kit/provider-kit.ts";
import { ali } from "./ali.ts";
import { imageExchange } from "./image-task.ts";

const URL = "https://dashscope.aliyuncs.com/api/v1/services/aigc/text2image/image-synthesis";
const state = (task_status: string, more: object = {}) => ({
  json: { output: { task_id: "t", task_status, ...more } },
});

describe("image tasks of DashScope", () => {
  it("wait three seconds between reads and give up after a minute", async () => {
    const { context, calls, slept } = createExchange([
      state("PENDING"),
      ...Array.from({ length: 20 }, () => state("RUNNING")),
    ]);
    const answer = await imageExchange(createUpstreamCall(URL, {}, { authorization: "Bearer k" }), context);
    const json = await readJson(answer);
    expect([calls.length, slept.length, new Set(slept)]).toEqual([21, 19, new Set([3000])]);
    const read = ali.classify?.({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(json)), json });
    expect(read).toMatchObject({ class: "timeout", retry: false });
  });

  it("are downloaded where the client asked for bytes", async () => {
    const results = [{ url: "https://i.example/1.png" }, { code: "InternalError", message: "no" }];
    const asked: string[] = [];
    const { context } = createExchange([state("PENDING"), state("SUCCEEDED", { results })], {
      spec: createRequestSpec({ operation: "images.generations", wantsBase64: true }),
      download(url) {
        asked.push(url);
        return Promise.resolve({ mediaType: "image/png", bytes: Buffer.from("PNG") });
      },
    });
    const json = await readJson(await imageExchange(createUpstreamCall(URL, {}), context));
    expect(json).toMatchObject({ output: { results: [{ b64_image: "UE5H" }, results[1]] } });
    expect(asked).toEqual(["https://i.example/1.png"]);
  });

  it("continue when a poll fails, and are found next to the compatible base", async () => {
    const baseUrl = "https://dashscope.aliyuncs.com/compatible-mode/v1";
    const done = state("SUCCEEDED", { results: [{ url: "https://i.example/1.png" }] });
    const { context, calls } = createExchange(
      [state("PENDING"), { status: 429, json: {} }, { status: 502, json: {} }, done],
      {
        channel: createChannelRecord({ baseUrl }),
      },
    );
    expect((await imageExchange(createUpstreamCall(URL, {}), context)).status).toBe(200);
    expect(calls.slice(1).map((call) => call.url.pathname)).toEqual([
      "/api/v1/tasks/t",
      "/api/v1/tasks/t",
      "/api/v1/tasks/t",
    ]);
  });

  it("hand a refused submission on", async () => {
    const { context } = createExchange([{ status: 400, json: { code: "InvalidParameter", message: "size" } }]);
    expect((await imageExchange(createUpstreamCall(URL, {}), context)).status).toBe(400);
  });

  it("keep the images that were made when single ones failed", () => {
    const bridge = ali.bridges?.find((candidate) => candidate.upstream === "private:ali-image");
    const results = [
      { url: "https://i.example/1.png" },
      { code: "InternalError", message: "no" },
      { b64_image: "aGk=" },
    ];
    const answer = bridge?.begin({ now: 1000 } as never).response({ output: { results } });
    expect(answer).toEqual({ created: 1, data: [{ url: "https://i.example/1.png" }, { b64_json: "aGk=" }] });
  });
});
