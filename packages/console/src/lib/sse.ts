/** Splits the text of an event stream into the data of its events; pieces may end anywhere. */
export function createEventReader(): (piece: string) => string[] {
  let rest = "";
  return (piece) => {
    // A piece may end between the two signs of one line end.
    const text = rest + piece;
    const isSplit = text.endsWith("\r");
    const lines = (isSplit ? text.slice(0, -1) : text).replaceAll(/\r\n?/g, "\n");
    const end = lines.lastIndexOf("\n\n");
    if (end < 0) {
      rest = isSplit ? `${lines}\r` : lines;
      return [];
    }
    rest = lines.slice(end + 2) + (isSplit ? "\r" : "");
    return lines
      .slice(0, end)
      .split("\n\n")
      .map(dataOf)
      .filter((data) => data !== "");
  };
}

function dataOf(event: string): string {
  const lines = event.split("\n").filter((line) => line.startsWith("data:"));
  return lines.map((line) => line.slice(line.startsWith("data: ") ? 6 : 5)).join("\n");
}
