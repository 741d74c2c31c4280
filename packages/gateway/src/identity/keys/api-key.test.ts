import { describe, expect, it } from "vitest";
import { parseApiKey, readApiKey } from "./api-key.ts";

const KEY = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL";
const OTHER = KEY.toLowerCase().replace("0", "1");

function readKey(headers: Record<string, string>, url = "/v1/chat/completions"): unknown {
  const read = readApiKey(headers, url);
  return typeof read === "object" ? read.key : read;
}

describe("the place of the key", () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ["bearer", { authorization: `Bearer sk-${KEY}` }, undefined],
    ["bearer in any case with spaces", { authorization: `bEARER   sk-${KEY}  ` }, undefined],
    ["a bare key", { authorization: KEY }, undefined],
    ["x-api-key", { "x-api-key": `sk-${KEY}` }, undefined],
    ["x-goog-api-key", { "x-goog-api-key": KEY }, "/v1beta/models/gemini:generateContent"],
    ["x-goog-api-key under /v1", { "x-goog-api-key": KEY }, "/v1/models"],
    ["x-goog-api-key of files", { "x-goog-api-key": KEY }, "/v1/files/abc"],
    ["x-goog-api-key of an upload", { "x-goog-api-key": KEY }, "/upload/v1/files"],
    ["the query", {}, `/v1beta/models?key=sk-${KEY}&alt=sse`],
    ["mj-api-secret", { "mj-api-secret": KEY }, "/mj/submit/imagine"],
    [
      "mj-api-secret next to the placeholder",
      { "mj-api-secret": KEY, authorization: "midjourney-proxy" },
      "/mj-fast/mj/submit/imagine",
    ],
    [
      "the subprotocol",
      { "sec-websocket-protocol": `realtime, openai-insecure-api-key.${KEY}, x` },
      "/v1/realtime?model=m",
    ],
  ])("%s", (_name, headers, url) => {
    expect(readKey(headers, url)).toBe(KEY);
  });

  it("is ignored where the place does not belong to the route", () => {
    expect(readKey({ "x-goog-api-key": KEY })).toBeUndefined();
    expect(readKey({ "mj-api-secret": KEY })).toBeUndefined();
    expect(readKey({}, `/v1/chat/completions?key=${KEY}`)).toBeUndefined();
    expect(readKey({ "sec-websocket-protocol": `openai-insecure-api-key.${KEY}` })).toBeUndefined();
  });

  it("is the first one that holds anything", () => {
    expect(readKey({ authorization: `Bearer ${KEY}`, "x-api-key": OTHER })).toBe(KEY);
    expect(readKey({ authorization: "Basic abc", "x-api-key": KEY })).toBe("malformed");
    expect(readKey({ authorization: "Bearer ", "x-api-key": KEY })).toBe(KEY);
    expect(readKey({ authorization: "Bearer" })).toBeUndefined();
    expect(readKey({})).toBeUndefined();
  });
});

describe("the form of the key", () => {
  it("drops one sk- and splits the pin at the first dash", () => {
    expect(parseApiKey(`sk-${KEY}`)).toEqual({ key: KEY, pin: undefined });
    expect(parseApiKey(`sk-${KEY}-12`)).toEqual({ key: KEY, pin: "12" });
    expect(parseApiKey(`${KEY}-1-2`)).toEqual({ key: KEY, pin: "1-2" });
    expect(parseApiKey(`${KEY}-`)).toEqual({ key: KEY, pin: "" });
  });

  it.each(["", "sk-", "abc", `sk-sk-${KEY}`, `${KEY}x`, KEY.slice(1), `${KEY.slice(1)}é`, "Basic abc"])(
    "refuses %j",
    (text) => {
      expect(parseApiKey(text)).toBe("malformed");
    },
  );
});
