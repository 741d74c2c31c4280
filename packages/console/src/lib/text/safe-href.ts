/** Addresses that may be opened from a text of another author. */
export function safeHref(text: string): string | undefined {
  const url = URL.parse(text);
  return url && ["https:", "http:", "mailto:"].includes(url.protocol) ? text : undefined;
}
