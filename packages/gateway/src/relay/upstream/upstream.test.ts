import { describe, expect, it } from "vitest";
import { createUpstreams } from "./upstream.ts";

const url = (text: string) => new URL(text);

describe("how WebSockets reach an upstream", () => {
  const open = createUpstreams({ connectTimeoutMs: 1_000, keepAliveMs: 1_000 });
  const guarded = createUpstreams({ connectTimeoutMs: 1_000, keepAliveMs: 1_000, isPublicOnly: true });

  it("is direct, or by a tunnel through the channel's proxy", () => {
    expect(open.socketOptions(url("wss://127.0.0.1/x"), undefined).agent).toBeUndefined();
    expect(open.socketOptions(url("wss://h/x"), "http://proxy:3128").agent).toBeDefined();
    expect(() => open.socketOptions(url("wss://h/x"), "socks5://proxy:1080")).toThrow("could not be reached");
  });

  it("refuses private networks where plain calls do", () => {
    expect(guarded.socketOptions(url("wss://h/x"), undefined).lookup).toBeDefined();
    expect(() => guarded.socketOptions(url("wss://127.0.0.1/x"), undefined)).toThrow("could not be reached");
    expect(() => guarded.socketOptions(url("ws://[::1]/x"), undefined)).toThrow("could not be reached");
  });
});

describe("link-local and metadata addresses", () => {
  const timeouts = { headersMs: 1_000, idleMs: 1_000 };
  const findFailure = (upstreams: ReturnType<typeof createUpstreams>, address: string, proxy?: string) =>
    upstreams.json({ method: "GET", url: address, headers: {}, ...(proxy && { proxy }) }).then(
      () => "answered",
      (error: unknown) => String((error as Error).message),
    );

  // @weakness Network: A channel reads the credentials of the machine from a metadata address
  it.each([
    "http://169.254.169.254/latest/meta-data",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://[fe80::1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://100.100.100.200/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[::ffff:0:a9fe:a9fe]/",
    "http://[64:ff9b:1::a9fe:a9fe]/",
    "http://metadata.google.internal/",
  ])("%s is refused for calls, sockets and proxies", async (address) => {
    const upstreams = createUpstreams({ connectTimeoutMs: 300, keepAliveMs: 1_000 });
    expect(await findFailure(upstreams, address)).toContain("is not allowed");
    expect(() => upstreams.socketOptions(url(address.replace("http", "ws")), undefined)).toThrow(
      "could not be reached",
    );
    expect(await findFailure(upstreams, address, "http://127.0.0.1:9")).toContain("could not be reached");
    expect(() => upstreams.dispatch(call("http://127.0.0.1:9/"), address, timeouts, {})).toThrow(
      "could not be reached",
    );
    await upstreams.close();
  });

  it("may be allowed", async () => {
    const upstreams = createUpstreams({ connectTimeoutMs: 300, keepAliveMs: 1_000, allowsLinkLocal: true });
    expect(await findFailure(upstreams, "http://169.254.169.254/")).not.toContain("is not allowed");
    await upstreams.close();
  });
});

const call = (address: string) => ({ method: "GET" as const, url: url(address), headers: {}, body: undefined });
