import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../dialects/core/types.ts";
import { createGuardedFetcher } from "../../lib/net/guarded-fetch.ts";
import { withInlineFiles } from "./inline-files.ts";
import { jsonBody } from "../body/read-body.ts";
import { createRemoteFiles } from "./remote-files.ts";

const PNG = Buffer.from("89504e470d0a1a0a00000000", "hex");
const PNG_DATA = PNG.toString("base64");
const PDF = Buffer.from("%PDF-1.7 x");
const PICTURE = "https://pictures.example/a.png";

let worker: Server;
const fetcher = createGuardedFetcher();
let asked: { url: string; key: string }[] = [];
let running = 0;
let most = 0;
let workerUrl = "";

/** A server that fetches for the gateway, as the operator's worker does. */
beforeAll(async () => {
  worker = createServer((request, response) => {
    let text = "";
    request.on("data", (part: Buffer) => (text += part.toString("utf8")));
    request.on("end", () => {
      const wanted = JSON.parse(text) as { url: string; key: string };
      asked.push(wanted);
      most = Math.max(most, ++running);
      setTimeout(() => {
        running--;
        if (wanted.url.includes("missing")) return response.writeHead(404).end(PNG);
        if (wanted.url.includes("page")) return response.writeHead(200, { "content-type": "image/png" }).end("<html>");
        if (wanted.url.includes("note"))
          return response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end("note");
        return response.writeHead(200).end(wanted.url.endsWith(".pdf") ? PDF : PNG);
      }, 20);
    });
  });
  await new Promise<void>((resolve) => worker.listen(0, "127.0.0.1", resolve));
  workerUrl = `http://127.0.0.1:${(worker.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  worker.close();
  await fetcher.close();
});
beforeEach(() => {
  asked = [];
  most = 0;
});

const files = createRemoteFiles({ fetcher, options: () => ({ WorkerUrl: workerUrl, WorkerValidKey: "wk" }) });

async function inlined(json: JsonObject, upstream: "gemini-generate" | "anthropic-messages" = "anthropic-messages") {
  const body = jsonBody(Buffer.from(JSON.stringify(json)));
  const result = await withInlineFiles(body, upstream, files, undefined);
  return { json: result.json(), isSame: result === body, bytes: result.bytes };
}

const saying = (...content: JsonObject[]): JsonObject => ({ model: "m", messages: [{ role: "user", content }] });
const chatImage = (url: string): JsonObject => ({ type: "image_url", image_url: { url, detail: "low" } });

describe("files that a request names by address", () => {
  it.each(["__proto__", "__defineGetter__", "toString", "valueOf"])(
    "leave a part of the type %s as it is",
    async (type) => {
      const part = { type, text: "http://x.example" };
      const { json } = await inlined({
        messages: [{ role: "user", content: [part, { type: "image_url", image_url: { url: PICTURE } }] }],
      });
      expect(json["messages"]).toMatchObject([{ content: [part, { type: "image_url" }] }]);
    },
  );

  it("are inlined in chat requests, and everything else is unchanged", async () => {
    const text = { type: "text", text: PICTURE };
    const { json, bytes } = await inlined({ ...saying(text, chatImage(PICTURE)), temperature: 0, seed: 7 });
    expect(json).toEqual({
      ...saying(text, chatImage(`data:image/png;base64,${PNG_DATA}`)),
      temperature: 0,
      seed: 7,
    });
    expect(JSON.parse(bytes.toString("utf8"))).toEqual(json);
    expect(asked).toEqual([{ url: PICTURE, key: "wk" }]);
  });

  it("are inlined in requests of the other protocols, also in tool results", async () => {
    const source = { type: "url", url: PICTURE };
    const result = { type: "tool_result", tool_use_id: "t", content: [{ type: "image", source }] };
    const anthropic = await inlined(
      saying(
        result,
        { type: "document", source: { type: "url", url: "https://x.example/a.pdf" } },
        { type: "document", source: { type: "url", url: "https://x.example/note" } },
      ),
    );
    expect(anthropic.json).toEqual(
      saying(
        {
          ...result,
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG_DATA } }],
        },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF.toString("base64") } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "note" } },
      ),
    );
    const responses = await inlined({
      model: "m",
      input: [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: PICTURE },
            { type: "input_file", file_url: "https://x.example/b/a.pdf" },
          ],
        },
      ],
    });
    expect(responses.json).toMatchObject({
      input: [
        {
          content: [
            { image_url: `data:image/png;base64,${PNG_DATA}` },
            { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF.toString("base64")}` },
          ],
        },
      ],
    });
    const gemini = await inlined({
      contents: [{ parts: [{ fileData: { mimeType: "image/png", fileUri: PICTURE } }] }],
    });
    expect(gemini.json).toEqual({ contents: [{ parts: [{ inlineData: { mimeType: "image/png", data: PNG_DATA } }] }] });
  });

  it("are not inlined where the upstream reads them itself", async () => {
    const own = "https://www.youtube.com/watch?v=1";
    const stored = { contents: [{ parts: [{ fileData: { mimeType: "image/png", fileUri: PICTURE } }] }] };
    expect((await inlined(saying(chatImage(own)), "gemini-generate")).isSame).toBe(true);
    expect((await inlined(stored, "gemini-generate")).isSame).toBe(true);
    expect((await inlined(saying(chatImage("gs://bucket/a.png")), "gemini-generate")).isSame).toBe(true);
    expect((await inlined(saying(chatImage(`data:image/png;base64,${PNG_DATA}`)))).isSame).toBe(true);
    expect(asked).toEqual([]);
  });

  it("are fetched once each, four at a time, and not again for the next channel", async () => {
    const pictures = Array.from({ length: 12 }, (_, index) => chatImage(`https://p.example/${index % 8}.png`));
    const body = jsonBody(Buffer.from(JSON.stringify(saying(...pictures))));
    const first = await withInlineFiles(body, "anthropic-messages", files, undefined);
    expect(await withInlineFiles(body, "private:ollama-chat", files, undefined)).toBe(first);
    expect(asked).toHaveLength(8);
    expect(most).toBe(4);
  });

  it.each([
    ["a file that is not there", "https://x.example/missing.png", "file_fetch_failed"],
    ["a page", "https://x.example/page.png", "file_fetch_failed"],
  ])("are refused: %s", async (_name, url, code) => {
    await expect(inlined(saying(chatImage(url)))).rejects.toMatchObject({ code, status: 400 });
  });

  it("are refused when there are too many", async () => {
    const pictures = Array.from({ length: 17 }, (_, index) => chatImage(`https://p.example/${index}.png`));
    await expect(inlined(saying(...pictures))).rejects.toMatchObject({ code: "invalid_request" });
    expect(asked).toEqual([]);
  });

  it.each([
    "http://127.0.0.1/a.png",
    "http://169.254.169.254/latest",
    "http://[::1]/a",
    "http://localhost/a",
    "http://example.com:8080/a",
  ])("without a worker, %s is not allowed", async (url) => {
    const direct = createRemoteFiles({ fetcher, options: () => ({ WorkerUrl: "", WorkerValidKey: "" }) });
    const body = jsonBody(Buffer.from(JSON.stringify(saying(chatImage(url)))));
    await expect(withInlineFiles(body, "anthropic-messages", direct, undefined)).rejects.toMatchObject({
      code: "unsafe_url",
    });
  });

  it.each(["http://127.0.0.1/a.png", "http://[::ffff:169.254.169.254]/latest", "http://metadata.google.internal/a"])(
    "the worker is not sent to %s",
    async (url) => {
      await expect(inlined(saying(chatImage(url)))).rejects.toMatchObject({ code: "unsafe_url" });
      expect(asked).toEqual([]);
    },
  );

  it("are not waited for when the client has left", async () => {
    const gone = new AbortController();
    const body = jsonBody(Buffer.from(JSON.stringify(saying(chatImage(PICTURE)))));
    const reading = withInlineFiles(body, "anthropic-messages", files, gone.signal);
    gone.abort(new Error("left"));
    await expect(reading).rejects.toThrow();
    expect((await withInlineFiles(body, "anthropic-messages", files, undefined)).json()).toMatchObject(
      saying({ type: "image_url" }),
    );
  });
});
