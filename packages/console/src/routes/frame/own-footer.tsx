import { hasMarkup } from "../../lib/text/content.ts";
import { HtmlBlock } from "../../ui/content/html-block.tsx";
import { Markdown } from "../../ui/content/markdown.tsx";

/** A line with a link in it is HTML too; an address alone is a link here, never a frame. */
export function OwnFooter({ text }: { readonly text: string }) {
  return hasMarkup(text) ? <HtmlBlock html={text} /> : <Markdown text={text} />;
}
