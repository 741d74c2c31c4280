import type { Severity } from "../../storage/tables/schema-events.ts";
import { cutCharacters, defuse, escapeDiscord } from "./escape.ts";
import { JSON_HEADERS, layOut, type Format } from "./format.ts";

const MAX_TITLE = 256;
const MAX_DESCRIPTION = 4_096;
const COLOURS: Readonly<Record<Severity, number>> = { info: 0x3b82f6, warning: 0xf59e0b, critical: 0xef4444 };

/** A webhook of a Discord channel. */
export const DISCORD: Format = {
  name: "discord",
  isText: true,
  pauseMs: 2_000,
  build({ target, text }) {
    const description = layOut(text, {
      escape: escapeDiscord,
      bold: (escaped) => `**${escaped}**`,
      line: (escaped) => `- ${escaped}`,
      fits: (part) => part.length <= MAX_DESCRIPTION,
      more: "…",
    });
    return {
      url: target.url,
      headers: JSON_HEADERS,
      body: JSON.stringify({
        embeds: [
          {
            title: cutCharacters(defuse(text.title), MAX_TITLE),
            description,
            color: COLOURS[text.severity],
            ...(text.link && { url: text.link.url }),
          },
        ],
        allowed_mentions: { parse: [] },
      }),
    };
  },
};
