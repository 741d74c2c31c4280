/** Returns an address that is safe to open from another author's text; otherwise undefined. */
export function safeHref(text: string): string | undefined {
  const url = URL.parse(text);
  return url && ["https:", "http:", "mailto:"].includes(url.protocol) ? text : undefined;
}
