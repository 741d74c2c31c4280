import { describe, expect, it } from "vitest";
import { checkDestination, destinationsOf, type Addressed } from "./destination.ts";

const openai: Addressed = { type: 1, base_url: "", setting: null, model_mapping: "" };
const admin = { role: 10 };
const root = { role: 100 };

describe("where a stored key may go", () => {
  // @weakness Providers' keys: An administrator learns a stored key by sending it to a server of his own
  it.each([
    ["another host", { base_url: "https://evil.example/v1" }],
    ["another port", { base_url: "https://api.openai.com:8443" }],
    ["without encryption", { base_url: "http://api.openai.com" }],
    ["a user part that looks like the host", { base_url: "https://api.openai.com@evil.example" }],
    ["a proxy", { setting: '{"proxy":"http://evil.example:3128"}' }],
    ["a proxy with escaped slashes", { setting: '{"proxy":"socks5:\\/\\/evil.example"}' }],
    ["a path that is a whole address", { setting: '{"paths":{"chat":"https://evil.example/x"}}' }],
    ["another vendor", { type: 14 }],
  ])("not to %s", (_, change) => {
    expect(() => checkDestination(admin, openai, { ...openai, ...change })).toThrow(
      expect.objectContaining({ code: "CH21" }),
    );
    expect(() => checkDestination(root, openai, { ...openai, ...change })).not.toThrow();
  });

  it.each([
    ["the same address, written out", { base_url: "https://api.openai.com/v1" }],
    ["another path", { base_url: "https://API.openai.com/other/" }],
    ["settings without an address", { setting: '{"limits":{"rpm":5}}' }],
  ])("to %s", (_, change) => {
    expect(() => checkDestination(admin, openai, { ...openai, ...change })).not.toThrow();
  });

  it("a mapping of models may not complete a host", () => {
    const custom = { ...openai, type: 8, base_url: "https://{model}.example.com/v1" };
    const next = { ...custom, model_mapping: '{"a":"evil.example/"}' };
    expect(() => checkDestination(admin, custom, next)).toThrow(expect.objectContaining({ code: "CH21" }));
  });

  it("a proxy that stays is no new destination", () => {
    const proxied = { ...openai, setting: '{"proxy":"http://10.0.0.1:3128"}' };
    expect(() =>
      checkDestination(admin, proxied, { ...proxied, setting: '{"proxy":"http://10.0.0.1:3128","a":1}' }),
    ).not.toThrow();
    expect([...destinationsOf(proxied)]).toEqual(["https://api.openai.com", "http://10.0.0.1:3128"]);
  });
});
