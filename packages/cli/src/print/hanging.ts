/** The narrowest column that text is wrapped to. */
const LEAST = 20;

/** Formats a text after its name, wrapped at blanks, because a terminal would wrap it anywhere. */
export function hanging(name: string, text: string, width: number | undefined): string {
  const room = width === undefined ? Number.POSITIVE_INFINITY : width - name.length;
  if (room < LEAST || text.includes("\n")) return name + text;
  const lines: string[] = [];
  let rest = text;
  while (rest.length > room) {
    const blank = rest.lastIndexOf(" ", room);
    const at = blank > 0 ? blank : rest.indexOf(" ", room);
    if (at === -1) break;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at + 1);
  }
  return name + [...lines, rest].join(`\n${" ".repeat(name.length)}`);
}
