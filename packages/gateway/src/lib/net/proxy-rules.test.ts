import { describe, expect, it } from "vitest";
import { Secret } from "../secret.ts";
import { createFindProxy, parseException, type Exception } from "./proxy-rules.ts";

const SECURE = "http://secure-proxy:3128/";
const PLAIN = "http://plain-proxy:3128/";

function parseAll(list: string): Exception[] {
  return list.split(",").map((entry) => {
    const exception = parseException(entry);
    if (!exception) throw new Error(`${entry} is refused`);
    return exception;
  });
}

function find(address: string, list = ""): string | undefined {
  const noProxy = list === "" ? [] : parseAll(list);
  const settings = { httpsProxy: new Secret(SECURE), httpProxy: new Secret(PLAIN), noProxy };
  return createFindProxy(settings)(new URL(address));
}

describe("the proxy of an address", () => {
  it("depends on its scheme", () => {
    expect(find("https://api.example.com/v1")).toBe(SECURE);
    expect(find("wss://api.example.com/v1")).toBe(SECURE);
    expect(find("http://api.example.com/v1")).toBe(PLAIN);
    expect(find("ws://api.example.com/v1")).toBe(PLAIN);
    const secureOnly = { httpsProxy: new Secret(SECURE), httpProxy: undefined, noProxy: [] };
    expect(createFindProxy(secureOnly)(new URL("http://api.example.com"))).toBeUndefined();
  });

  it.each([
    ["api.example.com", "https://api.example.com", true],
    ["example.com", "https://api.example.com", true],
    ["EXAMPLE.com", "https://API.example.com.", true],
    ["example.com", "https://notexample.com", false],
    [".example.com", "https://api.example.com", true],
    ["*.example.com", "https://api.example.com", true],
    [".example.com", "https://example.com", false],
    ["example.com:8443", "https://example.com:8443", true],
    ["example.com:8443", "https://example.com", false],
    ["example.com:443", "https://example.com", true],
    ["example.com:80", "http://example.com", true],
    ["10.1.2.3", "https://10.1.2.3", true],
    ["10.1.2.3:8000", "http://10.1.2.3:8000", true],
    ["10.1.2.3:8000", "http://10.1.2.3:8001", false],
    ["10.0.0.0/8", "https://10.200.0.1:8443", true],
    ["10.0.0.0/8", "https://0x0ac80001/", true],
    ["10.0.0.0/8", "https://[::ffff:10.200.0.1]", true],
    ["10.0.0.0/8", "https://11.0.0.1", false],
    ["10.0.0.0/8", "https://ten.example.com", false],
    ["fd00::/8", "https://[fd12::1]", true],
    ["fd12::1", "https://[fd12:0::1]", true],
    ["[fd12::1]:8443", "https://[fd12::1]:8443", true],
    ["[fd12::1]:8443", "https://[fd12::1]", false],
    ["a.example,*", "https://anything.example.org", true],
    [".svc,.cluster.local", "http://vllm.ai.svc:8000", true],
  ])("with the exceptions %s for %s: directly is %s", (list, address, isDirect) => {
    expect(find(address, list) === undefined).toBe(isDirect);
  });

  it.each(["http://localhost:8080", "https://127.0.0.1", "http://127.8.8.8", "https://[::1]", "http://a.localhost"])(
    "%s is this machine, which no proxy serves",
    (address) => expect(find(address)).toBeUndefined(),
  );

  it.each(["10.*", "<local>", "https://example.com", "a b", "10.0.0.0/99", "-a.example", "a..b", "", "example.com:x"])(
    "%j is no exception",
    (entry) => expect(parseException(entry)).toBeUndefined(),
  );
});
