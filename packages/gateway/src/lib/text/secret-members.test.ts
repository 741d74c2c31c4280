import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSecrets, hasSecrets, hinted, hintedText, restoredText } from "./secret-members.ts";

describe("hints in place of secrets", () => {
  it.each<[unknown, unknown]>([
    [{ proxy: "http://user:pass@proxy.example:3128" }, { proxy: "http://user:****@proxy.example:3128" }],
    [{ proxy: "socks5://only-a-token@proxy.example" }, { proxy: "socks5://****@proxy.example" }],
    [{ proxy: "http://u:p@ss@proxy.example/x" }, { proxy: "http://u:****@proxy.example/x" }],
    [{ proxy: "http:user:pass@proxy.example" }, { proxy: "****" }],
    [
      { paths: { chat: "https://x.example/y?api_key=abc&v=1" } },
      { paths: { chat: "https://x.example/y?api_key=****&v=1" } },
    ],
    [
      { headers: { Authorization: "Bearer {key}", "X-Hidden": "hunter2" } },
      { headers: { Authorization: "Bearer {key}", "X-Hidden": "****" } },
    ],
    [{ headers: { "api-key": "0123456789abcdef0123" } }, { headers: { "api-key": "****0123" } }],
    [{ headers: { "anthropic-version": "2023-06-01", "User-Agent": "us" } }, undefined],
    [{ headers: { "User-Agent": "Bearer abcdefgh12345" } }, { headers: { "User-Agent": "****2345" } }],
    [
      { user_api_key: "short", tools: [{ authorization: "x-1" }] },
      { user_api_key: "****", tools: [{ authorization: "****" }] },
    ],
    [
      { accessTokens: ["one", "two"], clientSecret: "s" },
      { accessTokens: ["****", "****"], clientSecret: "****" },
    ],
    [{ note: "sk-abcdefghijklmnop1234" }, { note: "****1234" }],
    [{ text: '{"password":"x"}' }, { text: '{"password":"****"}' }],
    [
      { multi_key_mode: "polling", max_tokens_field: "max_completion_tokens", auth: "jwt", max_tokens: "100" },
      undefined,
    ],
    [{ key_limits: { rpm: 5 }, paths: { chat: "https://x.example/v1/chat?v=1" } }, undefined],
  ])("%j", (value, expected) => {
    const text = JSON.stringify(value);
    expect(JSON.parse(hintedText(text))).toEqual(expected ?? value);
    expect(hasSecrets(text)).toBe(expected !== undefined);
    expect(hinted(value)).toEqual(expected ?? value);
  });

  it("leave other texts as they are, and the digits of numbers", () => {
    expect(hintedText('{ "a" : 1e400 }')).toBe('{ "a" : 1e400 }');
    expect(hintedText('{"seed":12345678901234567890,"token":"t"}')).toBe(
      '{"seed":12345678901234567890,"token":"****"}',
    );
    expect(hintedText("no json, token: x")).toBe("no json, token: x");
  });

  it("find a member whose name is written with escapes", () => {
    expect(findSecrets(String.raw`{"t\u006fken":"x"}`)).toMatchObject([{ path: ["token"], text: "x" }]);
  });

  const secret = fc.string({ minLength: 1 }).filter((text) => text.trim() !== "" && !/^-?[\d.]+$/.test(text.trim()));
  const document = fc.record(
    {
      proxy: fc.constantFrom("http://u:p-1@h.example", "http://h.example"),
      headers: fc.dictionary(fc.constantFrom("x-a", "authorization", "accept"), secret),
      api_key: secret,
      seed: fc.integer(),
      nested: fc.record({ token: secret, plain: fc.string() }),
    },
    { requiredKeys: [] },
  );

  it("come back as what is stored", () => {
    fc.assert(
      fc.property(document, (value) => {
        const stored = JSON.stringify(value);
        const back = restoredText(hintedText(stored), stored);
        expect("text" in back && JSON.parse(back.text)).toEqual(value);
      }),
    );
  });

  it("restore a JSON text in a member, and leave asterisks that stand for no secret", () => {
    const stored = JSON.stringify({ text: '{"password":"x"}', stop: "****" });
    expect(restoredText(hintedText(stored), stored)).toEqual({ text: stored });
  });

  it.each([
    ['{"headers":{"x":"****"}}', null, "headers.x"],
    ['{"proxy":"http://u:****@evil.example"}', '{"proxy":"http://u:p@good.example"}', "proxy"],
    ['{"note":"****"}', '{"note":"sk-abcdefghijklmnop1234"}', "note"],
    ['{"token":"****9999"}', '{"token":"abcdefghijklmnopqrstuvwxyz"}', "token"],
  ])("%s stands for nothing in %s", (text, stored, unknown) => {
    expect(restoredText(text, stored)).toEqual({ unknown });
  });
});
