import { createHmac } from "node:crypto";
import { WEBHOOK_FORMATS, WEBHOOK_LANGUAGES, type WebhookFormat } from "@fairway/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventTypeName } from "../../events/catalogue.ts";
import { renderText, renderTitle } from "../texts/render.ts";
import type { StoredEvent } from "../types.ts";
import type { FormatRequest } from "./format.ts";
import { FORMATS } from "./formats.ts";

const NOW = Date.UTC(2026, 10, 29, 12);
const ADDRESS = "https://gw.example";
const TARGET = { url: "https://chat.example/robot?access_token=t", keys: [], secret: "s3cret", chatId: "-100" };

function buildEvent(
  type: EventTypeName,
  data: Readonly<Record<string, unknown>> = EVENT_TYPES[type].example,
): StoredEvent {
  const ids = { id: 7, account_id: 0, team_id: 0, user_id: 5, dedup_key: "k" };
  return { ...ids, type, at_ms: NOW, severity: EVENT_TYPES[type].severity, data };
}

function build(format: WebhookFormat, events: readonly StoredEvent[], language: "en" | "zh" = "en"): FormatRequest {
  const money = { quotaPerUnit: 500_000, inCurrency: true };
  const text = renderText(events, { language, systemName: "Fairway", serverAddress: ADDRESS, money });
  return FORMATS[format].build({ target: TARGET, events, text, nowMs: NOW, redelivery: 0, serverAddress: ADDRESS });
}

const TEXT_FORMATS = WEBHOOK_FORMATS.filter((format) => FORMATS[format].isText);

const SHOWN: ReadonlySet<string> = new Set(["text", "title", "content", "description"]);

/** Returns the texts that a chat program would show, in their order. */
function listTexts(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    typeof member === "string" ? (SHOWN.has(name) ? [member] : []) : listTexts(member),
  );
}

function parse<T = unknown>({ body }: FormatRequest): T {
  return JSON.parse(body) as T;
}

describe.each(WEBHOOK_FORMATS)("%s", (format) => {
  test.each(EVENT_TYPE_NAMES)("writes %s in both languages, with every member filled", (type) => {
    for (const language of WEBHOOK_LANGUAGES) {
      const { body } = build(format, [buildEvent(type)], language);
      expect(() => JSON.parse(body) as unknown).not.toThrow();
      expect(Buffer.byteLength(body)).toBeLessThan(20 * 1024);
      expect(renderTitle(buildEvent(type), { language })).not.toMatch(/[{}–]/);
    }
  });
});

describe.each(TEXT_FORMATS)("%s", (format) => {
  test("a name makes no mention, no link and no markup", () => {
    const evil = "<@U1> <!channel> @everyone @all [x](https://evil.test) <b>&amp; https://evil.test evil.test *x* `y`";
    const texts = listTexts(
      parse(build(format, [buildEvent("channel.disabled", { id: 1, name: evil, reason: evil })])),
    );
    const text = texts.join("\n");
    expect(text).not.toMatch(/<@U1>|@everyone|@all|https:\/\/evil|evil\.test/);
    const hasMarkdown = format === "discord" || format === "dingtalk" || format === "wecom";
    // The title of an embed and the head of a message of Slack are plain text.
    if (hasMarkdown) expect(texts.at(-1)).not.toMatch(/(?<!\\)\[x(?<!\\)\]\(/);
    if (format === "slack") expect(texts[2]).not.toContain("<!");
    if (format === "telegram") expect(text).not.toContain("<b>&amp; ");
  });

  test("any number of events with any texts stays within the limits", () => {
    const name = fc.string({ unit: "grapheme", maxLength: 400 });
    const event = fc.record({ type: fc.constantFrom(...EVENT_TYPE_NAMES), name, reason: name, user: fc.nat(50) });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 120 }), (drawn) => {
        const events = drawn.map(({ type, name, reason, user }) => ({
          ...buildEvent(type, { id: 1, name, reason }),
          user_id: user,
        }));
        const request = build(format, events);
        const texts = listTexts(parse(request));
        const limits: Readonly<Record<string, (text: string) => boolean>> = {
          slack: (text) => text.length <= 3_000,
          wecom: (text) => Buffer.byteLength(text) <= 4_096,
          discord: (text) => text.length <= 4_096,
          telegram: (text) => text.length <= 4_096,
          dingtalk: (text) => Buffer.byteLength(text) <= 20_000,
        };
        for (const text of texts) expect((limits[format] ?? (() => true))(text)).toBe(true);
        expect(Buffer.byteLength(request.body)).toBeLessThan(64 * 1024);
      }),
      { numRuns: 60 },
    );
  });
});

test("Feishu signs with the time and the secret as the key of an empty text", () => {
  const request = build("feishu", [buildEvent("balance.low")]);
  const { timestamp, sign } = parse<{ timestamp: string; sign: string }>(request);
  expect(timestamp).toBe(String(NOW / 1_000));
  expect(sign).toBe(createHmac("sha256", `${timestamp}\ns3cret`).digest("base64"));
});

test("DingTalk signs in the address, with milliseconds", () => {
  const url = new URL(build("dingtalk", [buildEvent("balance.low")]).url);
  expect(url.searchParams.get("access_token")).toBe("t");
  expect(url.searchParams.get("timestamp")).toBe(String(NOW));
  const expected = createHmac("sha256", "s3cret").update(`${NOW}\ns3cret`).digest("base64");
  expect(url.searchParams.get("sign")).toBe(expected);
});

test("robots that answer 200 with an error have failed", () => {
  const answer = (text: string) => ({ status: 200, text, retryAfter: undefined });
  expect(FORMATS.feishu.judge?.(answer('{"code":0}'))).toBeUndefined();
  expect(FORMATS.feishu.judge?.(answer('{"code":19021}'))).toContain("19021");
  expect(FORMATS.wecom.judge?.(answer('{"errcode":45009}'))).toContain("45009");
  expect(FORMATS.dingtalk.judge?.(answer("ok"))).toBeDefined();
  expect(FORMATS.telegram.judge?.(answer('{"ok":true}'))).toBeUndefined();
});

interface Alert {
  readonly labels: object;
  readonly endsAt: string;
}

test("Alertmanager ends a state with the labels of its beginning", () => {
  const data = { id: 12, name: "openai-main" };
  const read = (type: EventTypeName) => parse<Alert[]>(build("alertmanager", [buildEvent(type, data)]))[0];
  const begun = read("channel.disabled");
  const ended = read("channel.enabled");
  expect(ended?.labels).toEqual(begun?.labels);
  expect(Date.parse(ended?.endsAt ?? "")).toBeLessThanOrEqual(NOW);
  expect(Date.parse(begun?.endsAt ?? "")).toBeGreaterThan(NOW);
});
