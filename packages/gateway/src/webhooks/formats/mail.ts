import { escapeMarkup } from "./escape.ts";
import type { Format } from "./format.ts";

const MAX_SECTIONS_OF_A_MAIL = 20;

/** A mail to a person. Its address is read when it is sent, because people change it. */
export const MAIL: Format = {
  name: "mail",
  isText: true,
  pauseMs: 60_000,
  build({ target, text }) {
    const sections = text.sections.slice(0, MAX_SECTIONS_OF_A_MAIL).map(({ title, lines }) => {
      const list = lines.map((line) => `<li>${escapeMarkup(line)}</li>`).join("");
      return `<p><strong>${escapeMarkup(title)}</strong></p>${list === "" ? "" : `<ul>${list}</ul>`}`;
    });
    const link = text.link && `<p><a href="${escapeMarkup(text.link.url)}">${escapeMarkup(text.link.words)}</a></p>`;
    return { url: target.url, headers: {}, body: [...sections, link ?? ""].join("\n") };
  },
};
