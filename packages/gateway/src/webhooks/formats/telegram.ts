import { escapeMarkup } from "./escape.ts";
import { JSON_HEADERS, layOut, readMember, type Format } from "./format.ts";

const MAX_CHARACTERS = 4_096;

/** A bot of Telegram; its token is part of the address. A group takes twenty messages a minute. */
export const TELEGRAM: Format = {
  name: "telegram",
  isText: true,
  pauseMs: 3_100,
  build({ target, text }) {
    const title = `<b>${escapeMarkup(text.title.slice(0, 200))}</b>`;
    const link = text.link ? `\n\n<a href="${escapeUrl(text.link.url)}">${escapeMarkup(text.link.words)}</a>` : "";
    const written = layOut(text, {
      escape: escapeMarkup,
      bold: (escaped) => `<b>${escaped}</b>`,
      line: (escaped) => `• ${escaped}`,
      fits: (part) => part.length <= MAX_CHARACTERS - title.length - link.length - 4,
      more: "…",
    });
    return {
      url: target.url,
      headers: JSON_HEADERS,
      body: JSON.stringify({
        chat_id: target.chatId,
        text: `${title}\n\n${written}${link}`,
        parse_mode: "HTML",
        link_preview_options: { is_disabled: true },
      }),
    };
  },
  judge: (answer) => (readMember(answer, "ok") === true ? undefined : "the bot did not accept the message"),
};

function escapeUrl(url: string): string {
  return url.replaceAll("&", "&amp;").replaceAll('"', "%22");
}
