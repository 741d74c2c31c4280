import { contentKind } from "../../lib/text/content.ts";
import "./content.css";
import { HtmlBlock } from "./html-block.tsx";
import { Markdown } from "./markdown.tsx";

/** Frames of other sites may run scripts and use their own storage, but may not navigate this page. */
export const FRAME_RIGHTS = "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox";

/** A text of the operator, depending on its form: an address to frame, HTML, or Markdown. */
export function Content(props: { readonly text: string; readonly title: string }) {
  const kind = contentKind(props.text);
  if (kind === "html") return <HtmlBlock html={props.text} />;
  if (kind === "markdown") return <Markdown text={props.text} />;
  return (
    <iframe
      className="site-frame"
      title={props.title}
      src={props.text.trim()}
      sandbox={FRAME_RIGHTS}
      referrerPolicy="no-referrer"
    />
  );
}
