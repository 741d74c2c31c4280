import { describe, expect, it } from "vitest";
import {
  createRequestSpec,
  createUpstreamCall,
  createChannelRecord,
  createExchange,
  readJson,
} from "../../../../test/kit/provider-kit.ts";
import { spark } from "./spark.ts";
import type { UpstreamSocket } from "../../core/types.ts";
import { sparkExchange } from "./exchange.ts";

const KEY = "app|secret|api";
const frame = (code: number, status: number, content: string) =>
  JSON.stringify({ header: { code, sid: "s", message: "m" }, payload: { choices: { status, text: [{ content }] } } });

function createSocket(frames: readonly string[]) {
  const sent: string[] = [];
  let isClosed = false;
  const socket: UpstreamSocket = {
    send: (text) => void sent.push(text),
    received: (async function* () {
      for (const text of frames) yield await Promise.resolve(text);
    })(),
    close: () => void (isClosed = true),
  };
  return { socket, sent, isClosed: () => isClosed };
}

async function run(frames: readonly string[], stream: boolean) {
  const made = createSocket(frames);
  const { context } = createExchange([], {
    spec: createRequestSpec({ stream }),
    connect: () => Promise.resolve(made.socket),
  });
  const answer = await sparkExchange(createUpstreamCall("wss://h/v3.5/chat", { header: {} }), context);
  return { ...made, answer };
}

describe("spark", () => {
  it("joins the frames of a whole answer and closes the socket", async () => {
    const { answer, sent, isClosed } = await run([frame(0, 0, "a"), frame(0, 2, "b")], false);
    expect(await readJson(answer)).toMatchObject({
      finish: "stop",
      payload: { choices: { text: [{ content: "ab" }] } },
    });
    expect([sent, isClosed()]).toEqual([['{"header":{}}'], true]);
  });

  it("keeps what was said when the rest is blocked", async () => {
    const { answer } = await run([frame(0, 1, "a"), frame(10_014, 2, "")], false);
    expect(await readJson(answer)).toMatchObject({
      finish: "content_filter",
      payload: { choices: { text: [{ content: "a" }] } },
    });
  });

  it("refuses a whole answer that broke, because nothing of it has left yet", async () => {
    expect(await readJson((await run([frame(0, 1, "a"), frame(10_222, 2, "")], false)).answer)).toMatchObject({
      header: { code: 10_222 },
    });
    const { answer, isClosed } = await run([frame(0, 0, "a"), frame(0, 1, "b")], false);
    expect([answer.status, isClosed()]).toEqual([502, true]);
  });

  it("answers a failing first frame and a silent close as failures", async () => {
    expect((await run([frame(10_013, 2, "")], true)).answer.headers["content-type"]).toBe("application/json");
    expect((await run([], true)).answer.status).toBe(502);
  });

  it("hands frames over as events until the last one", async () => {
    const { answer, isClosed } = await run([frame(0, 0, "a"), frame(0, 2, "b"), frame(0, 1, "never")], true);
    let text = "";
    for await (const part of answer.body) text += part.toString();
    expect([text.split("\n\n").length - 1, text.includes("never"), isClosed()]).toEqual([2, false, true]);
  });

  it("takes the version from the client, but nothing else into the path", async () => {
    const signed = async (version: string) => {
      const call = createUpstreamCall(`wss://h/v2.1/chat?api-version=${encodeURIComponent(version)}`, {
        parameter: { chat: { domain: "generalv2" } },
      });
      await spark.authorize(call, createChannelRecord(), {
        key: KEY,
        now: 0,
        http: () => Promise.reject(new Error("none")),
        clientHeaders: {},
      });
      return [call.url.pathname, JSON.parse(call.body?.toString() ?? "") as unknown];
    };
    expect(await signed("v3.5")).toEqual([
      "/v3.5/chat",
      { parameter: { chat: { domain: "generalv3.5" } }, header: { app_id: "app" } },
    ]);
    expect((await signed("../admin"))[0]).toBe("/v2.1/chat");
  });

  it("knows a wrong clock from a wrong key", () => {
    const read = (status: number) =>
      spark.classify?.({
        status,
        headers: {},
        body: Buffer.from(""),
        json: { message: "HMAC signature cannot be verified" },
      });
    expect(read(403)).toMatchObject({ class: "server", disable: false });
    expect(read(401)).toMatchObject({ class: "bad_key", disable: true, message: "HMAC signature cannot be verified" });
  });
});
