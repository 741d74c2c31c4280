import { hasMarkup } from "../../lib/text/content.ts";
import { HtmlBlock } from "../../ui/content/html-block.tsx";
import { Markdown } from "../../ui/content/markdown.tsx";

/** A line with a link is HTML too; a bare address becomes a link here, never a frame. */
export function OwnFooter({ text }: { readonly text: string }) {
  return hasMarkup(text) ? <HtmlBlock html={text} /> : <Markdown text={text} />;
}
