import { escapeHtml } from "../../identity/mail/messages.ts";

/** Keeps chat programs from seeing mentions and links in names, whatever their own signs are. */
const JOINER = "\u2060";

export function defuse(text: string): string {
  return text
    .replaceAll("@", `@${JOINER}`)
    .replaceAll("://", `:${JOINER}//`)
    .replace(/(\w)\.(?=\p{L}{2,})/gu, `$1.${JOINER}`);
}

/** For Telegram and mails. */
export function escapeMarkup(text: string): string {
  return escapeHtml(defuse(text));
}

/** For Slack, whose signs are these three. */
export function escapeSlack(text: string): string {
  return defuse(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** For Discord, which knows the backslash. */
export function escapeDiscord(text: string): string {
  return defuse(text).replace(/[\\`*_~|>#[\]()<:]/g, String.raw`\$&`);
}

const WIDE: Readonly<Record<string, string>> = {
  "[": "［",
  "]": "］",
  "(": "（",
  ")": "）",
  "<": "＜",
  ">": "＞",
  "*": "＊",
  _: "＿",
  "`": "｀",
  "#": "＃",
  "!": "！",
  "~": "～",
  "|": "｜",
  "\\": "＼",
};

/** For the Markdown of DingTalk and WeCom, which knows no escape: their signs become the wide ones. */
export function escapeWide(text: string): string {
  return defuse(text).replace(/[[\]()<>*_`#!~|\\]/g, (sign) => WIDE[sign] ?? sign);
}

/** Cuts between characters, never inside one. */
export function cutCharacters(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1);
  return `${cut.replace(/[\uD800-\uDBFF]$/, "")}…`;
}
