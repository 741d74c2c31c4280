import { describe, expect, it } from "vitest";
import { createUpstreams } from "./upstream.ts";

const url = (text: string) => new URL(text);

describe("how WebSockets reach an upstream", () => {
  const open = createUpstreams({ connectTimeoutMs: 1_000, keepAliveMs: 1_000 });
  const guarded = createUpstreams({ connectTimeoutMs: 1_000, keepAliveMs: 1_000, isPublicOnly: true });

  it("is direct, or by a tunnel through the channel's proxy", () => {
    expect(open.socketOptions(url("wss://127.0.0.1/x"), undefined)).toEqual({});
    expect(open.socketOptions(url("wss://h/x"), "http://proxy:3128").agent).toBeDefined();
    expect(() => open.socketOptions(url("wss://h/x"), "socks5://proxy:1080")).toThrow("could not be reached");
  });

  it("is closed to private networks where plain calls are", () => {
    expect(guarded.socketOptions(url("wss://h/x"), undefined).lookup).toBeDefined();
    expect(() => guarded.socketOptions(url("wss://127.0.0.1/x"), undefined)).toThrow("could not be reached");
    expect(() => guarded.socketOptions(url("ws://[::1]/x"), undefined)).toThrow("could not be reached");
  });
});
