import { createHmac } from "node:crypto";
import { cutCharacters, escapeWide } from "./escape.ts";
import { JSON_HEADERS, layOut, readMember, type Format } from "./format.ts";

const MAX_TITLE = 200;
const MAX_BYTES = 18_000;

/** A robot of DingTalk, which is blocked for ten minutes after more than twenty messages in one. */
export const DINGTALK: Format = {
  name: "dingtalk",
  isText: true,
  pauseMs: 3_100,
  build({ target, text, nowMs }) {
    const title = cutCharacters(escapeWide(text.title), MAX_TITLE);
    const written = layOut(text, {
      escape: escapeWide,
      bold: (escaped) => `**${escaped}**`,
      line: (escaped) => `- ${escaped}`,
      fits: (part) => Buffer.byteLength(part) <= MAX_BYTES,
      more: "…",
    });
    const link = text.link ? `\n\n[${escapeWide(text.link.words)}](${text.link.url})` : "";
    return {
      url: target.secret === "" ? target.url : signUrl(target.url, nowMs, target.secret),
      headers: JSON_HEADERS,
      body: JSON.stringify({
        msgtype: "markdown",
        markdown: { title, text: `### ${title}\n\n${written}${link}` },
        at: { isAtAll: false },
      }),
    };
  },
  judge(answer) {
    const code = readMember(answer, "errcode");
    return code === 0 ? undefined : `the robot answered errcode ${JSON.stringify(code ?? null)}`;
  },
};

function signUrl(text: string, nowMs: number, secret: string): string {
  const url = new URL(text);
  url.searchParams.set("timestamp", String(nowMs));
  url.searchParams.set("sign", createHmac("sha256", secret).update(`${nowMs}\n${secret}`).digest("base64"));
  return url.href;
}
