import { escapeWide } from "./escape.ts";
import { JSON_HEADERS, layOut, readMember, type Format } from "./format.ts";

const MAX_BYTES = 4_096;

/** A robot of WeCom, which takes twenty messages a minute. */
export const WECOM: Format = {
  name: "wecom",
  isText: true,
  pauseMs: 3_100,
  build({ target, text }) {
    const title = `### ${escapeWide(text.title).slice(0, 200)}`;
    const link = text.link ? `\n\n[${escapeWide(text.link.words)}](${text.link.url})` : "";
    const room = MAX_BYTES - Buffer.byteLength(`${title}\n\n${link}`);
    const written = layOut(text, {
      escape: escapeWide,
      bold: (escaped) => `**${escaped}**`,
      line: (escaped) => `> ${escaped}`,
      fits: (part) => Buffer.byteLength(part) <= room,
      more: "…",
    });
    return {
      url: target.url,
      headers: JSON_HEADERS,
      body: JSON.stringify({ msgtype: "markdown", markdown: { content: `${title}\n\n${written}${link}` } }),
    };
  },
  judge(answer) {
    const code = readMember(answer, "errcode");
    return code === 0 ? undefined : `the robot answered errcode ${JSON.stringify(code ?? null)}`;
  },
};
