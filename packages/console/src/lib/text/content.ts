/** The kind of an operator's text: a URL to frame, HTML, or Markdown. */
export type ContentKind = "frame" | "html" | "markdown";

export function contentKind(text: string): ContentKind {
  const trimmed = text.trim();
  if (/^https:\/\/\S+$/i.test(trimmed) && URL.canParse(trimmed)) return "frame";
  return trimmed.startsWith("<") ? "html" : "markdown";
}

/** Returns whether the text contains HTML elements; addresses in angle brackets do not count. */
export function hasMarkup(text: string): boolean {
  return /<[a-z][a-z0-9]*(?:\s[^>]*)?\/?>/i.test(text);
}
