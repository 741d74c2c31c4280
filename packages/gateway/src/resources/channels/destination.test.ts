import { describe, expect, it } from "vitest";
import { checkDestination, listDestinations, parsedChannel, type Addressed } from "./destination.ts";

const openai: Addressed = {
  type: 1,
  name: "c",
  status: 1,
  models: "gpt-4o",
  group: "default",
  base_url: "",
  other: "",
  openai_organization: "",
  test_model: "",
  model_mapping: "",
  status_code_mapping: "",
  max_input_tokens: 0,
  auto_ban: 1,
  priority: 0,
  weight: 0,
  tag: null,
  setting: null,
  param_override: null,
  header_override: null,
};
const compatible = { ...openai, type: 1005, base_url: "https://api.openai.com" };
const VERTEX_KEY = JSON.stringify({ project_id: "p", client_email: "c", private_key: "k" });
const admin = { role: 10 };
const root = { role: 100 };

interface Move {
  readonly from?: Addressed;
  readonly change: Partial<Addressed>;
  readonly keys?: string;
  readonly caller?: { readonly role: number };
}

function move({ from = openai, change, keys = "sk-1", caller = admin }: Move): void {
  checkDestination(
    caller,
    () => parsedChannel(from, keys),
    () => parsedChannel({ ...from, ...change }, keys),
  );
}

const moved = expect.objectContaining({ code: "CH21" }) as Error;

describe("where a stored key may go", () => {
  // @weakness Providers' keys: An administrator learns a stored key by sending it to a server of his own
  it.each<[string, Move]>([
    ["another host", { change: { base_url: "https://evil.example/v1" } }],
    ["another port", { change: { base_url: "https://api.openai.com:8443" } }],
    ["without encryption", { change: { base_url: "http://api.openai.com" } }],
    ["a user part that looks like the host", { change: { base_url: "https://api.openai.com@evil.example" } }],
    ["a proxy", { change: { setting: '{"proxy":"http://evil.example:3128"}' } }],
    ["a proxy with escaped slashes", { change: { setting: '{"proxy":"socks5:\\/\\/evil.example"}' } }],
    ["another vendor", { change: { type: 14 } }],
  ])("not to %s", (_, it) => {
    expect(() => move(it)).toThrow(moved);
    expect(() => move({ ...it, caller: root })).not.toThrow();
  });

  // @weakness Providers' keys: Escapes in a channel's setting, or a vendor's free field, hide where a stored key goes
  it.each<[string, Move]>([
    [
      "a path that is a whole address",
      { from: compatible, change: { setting: '{"paths":{"chat":"http://e.example/"}}' } },
    ],
    ["a path in escapes", { from: compatible, change: { setting: '{"paths":{"chat":"\\u0068ttp://e.example/"}}' } }],
    [
      "a path under an escaped name",
      { from: compatible, change: { setting: '{"p\\u0061ths":{"ch\\u0061t":"http://e.example/"}}' } },
    ],
    [
      "a path whose turn comes with another type",
      { from: { ...compatible, type: 1, setting: '{"paths":{"chat":"http://e.example/"}}' }, change: { type: 1005 } },
    ],
    ["a proxy in escapes", { change: { setting: '{"proxy":"\\u0068ttp://e.example:3128"}' } }],
    ["a proxy under an escaped name", { change: { setting: '{"pr\\u006fxy":"http://e.example:3128"}' } }],
    ["the second of two members of a name", { change: { setting: '{"proxy":"","proxy":"http://e.example:3128"}' } }],
    [
      "the directory of a cloud",
      {
        from: { ...openai, type: 3, base_url: "https://x.azure.com" },
        keys: "t|c|s",
        change: { setting: '{"entra_authority":"https://e.example"}' },
      },
    ],
    ["another region", { from: { ...openai, type: 41, other: "eu" }, keys: VERTEX_KEY, change: { other: "global" } }],
    [
      "the region of one model",
      { from: { ...openai, type: 41, other: "eu" }, keys: VERTEX_KEY, change: { other: '{"default":"eu","x":"us"}' } },
    ],
  ])("not to %s", (_, it) => {
    expect(() => move(it)).toThrow(moved);
  });

  it("a region that is a host is called by nobody", () => {
    const vertex = { ...openai, type: 41, other: "e.example:8080/x?" };
    const origins = [...listDestinations(parsedChannel(vertex, VERTEX_KEY))];
    expect(origins).toEqual(["https://oauth2.googleapis.com"]);
  });

  it.each<[string, Partial<Addressed>]>([
    ["the same address, written out", { base_url: "https://api.openai.com/v1" }],
    ["another path", { base_url: "https://API.openai.com/other/" }],
    ["settings without an address", { setting: '{"limits":{"rpm":5}}' }],
  ])("to %s", (_, change) => {
    expect(() => move({ change })).not.toThrow();
  });

  it.each<[string, Partial<Addressed>]>([
    ["a mapping", { model_mapping: '{"gpt-4o":"evil"}' }],
    ["a mapping in escapes", { model_mapping: '{"gpt-4o":"\\u0065vil"}' }],
    ["another model", { models: "gpt-4o,evil" }],
    ["a model for tests", { test_model: "evil" }],
  ])("%s may not complete a host", (_, change) => {
    const from = { ...openai, type: 8, base_url: "https://{model}.example.com/v1" };
    expect(() => move({ from, change })).toThrow(moved);
  });

  it("a proxy that stays is no new destination", () => {
    const from = { ...openai, setting: '{"proxy":"http://10.0.0.1:3128"}' };
    expect(() => move({ from, change: { setting: '{"a":1,"proxy":"http:\\/\\/10.0.0.1:3128"}' } })).not.toThrow();
    expect([...listDestinations(parsedChannel(from, "sk-1"))]).toEqual([
      "proxy http://10.0.0.1:3128",
      "https://api.openai.com",
    ]);
  });
});
