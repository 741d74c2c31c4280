import { createHmac } from "node:crypto";
import type { WebhookFormat } from "@fairway/wire";
import type { Severity } from "../../storage/tables/schema-events.ts";
import { cutCharacters, defuse } from "./escape.ts";
import { JSON_HEADERS, readMember, type Format } from "./format.ts";

const COLOURS: Readonly<Record<Severity, string>> = { info: "blue", warning: "orange", critical: "red" };
const MAX_ELEMENT = 3_000;

export const FEISHU = createFormat("feishu");
export const LARK = createFormat("lark");

/** A robot of Feishu, or of Lark abroad. Plain texts make no mention and no link. */
function createFormat(name: WebhookFormat): Format {
  return {
    name,
    isText: true,
    pauseMs: 1_000,
    build({ target, text, nowMs }) {
      const timestamp = String(Math.floor(nowMs / 1_000));
      const plain = (content: string) => ({ tag: "plain_text", content: cutCharacters(defuse(content), MAX_ELEMENT) });
      const { link } = text;
      const elements = [
        ...text.sections.map(({ title, lines }) => ({ tag: "div", text: plain([title, ...lines].join("\n")) })),
        ...(link
          ? [{ tag: "action", actions: [{ tag: "button", text: plain(link.words), url: link.url, type: "default" }] }]
          : []),
      ];
      const header = { title: plain(text.title), template: COLOURS[text.severity] };
      return {
        url: target.url,
        headers: JSON_HEADERS,
        body: JSON.stringify({
          ...(target.secret !== "" && { timestamp, sign: signFeishu(timestamp, target.secret) }),
          msg_type: "interactive",
          card: { config: { wide_screen_mode: true }, header, elements },
        }),
      };
    },
    judge(answer) {
      const code = readMember(answer, "code") ?? readMember(answer, "StatusCode");
      return code === 0 ? undefined : `the robot answered code ${JSON.stringify(code ?? null)}`;
    },
  };
}

/** The key is what elsewhere is the text, and the text is empty. */
function signFeishu(timestamp: string, secret: string): string {
  return createHmac("sha256", `${timestamp}\n${secret}`).update("").digest("base64");
}
