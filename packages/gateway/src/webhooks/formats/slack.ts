import { cutCharacters, defuse, escapeSlack } from "./escape.ts";
import { JSON_HEADERS, layOut, type Format } from "./format.ts";

const MAX_SECTION = 3_000;
const MAX_HEADER = 150;
const MAX_BLOCKS_OF_EVENTS = 40;

/** An incoming webhook of Slack. */
export const SLACK: Format = {
  name: "slack",
  isText: true,
  pauseMs: 1_000,
  build({ target, text }) {
    const sections = text.sections.slice(0, MAX_BLOCKS_OF_EVENTS).map((section) =>
      layOut(
        { ...text, sections: [section] },
        {
          escape: escapeSlack,
          bold: (escaped) => `*${escaped}*`,
          line: (escaped) => `• ${escaped}`,
          fits: (written) => written.length <= MAX_SECTION,
          more: "…",
        },
      ),
    );
    const link = text.link && `<${text.link.url}|${escapeSlack(text.link.words)}>`;
    return {
      url: target.url,
      headers: JSON_HEADERS,
      body: JSON.stringify({
        text: escapeSlack(text.title),
        unfurl_links: false,
        unfurl_media: false,
        blocks: [
          {
            type: "header",
            text: { type: "plain_text", text: cutCharacters(defuse(text.title), MAX_HEADER), emoji: false },
          },
          ...[...sections, ...(link ? [link] : [])].map((written) => ({
            type: "section",
            text: { type: "mrkdwn", text: written, verbatim: true },
          })),
        ],
      }),
    };
  },
};
