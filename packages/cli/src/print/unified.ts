/** How many unchanged lines surround a change. */
const CONTEXT = 3;

interface Edit {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

/**
 * Returns the changes between two texts as `diff -u` writes them, without the two lines of names; empty if they are the
 * same.
 */
export function unifiedHunks(before: string, after: string): string[] {
  const edits = editsBetween(splitLines(before), splitLines(after));
  const changed = edits.flatMap(({ sign }, at) => (sign === " " ? [] : [at]));
  const hunks: string[] = [];
  for (let first = 0; first < changed.length;) {
    let last = first;
    // Changes whose contexts touch share one hunk.
    while ((changed[last + 1] ?? Infinity) - (changed[last] ?? 0) <= 2 * CONTEXT + 1) last += 1;
    const start = Math.max(0, (changed[first] ?? 0) - CONTEXT);
    const end = Math.min(edits.length, (changed[last] ?? 0) + CONTEXT + 1);
    hunks.push(formatHunkHead(edits, start, end), ...edits.slice(start, end).map(({ sign, line }) => sign + line));
    first = last + 1;
  }
  return hunks;
}

function splitLines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function formatHunkHead(edits: readonly Edit[], start: number, end: number): string {
  const range = (other: Edit["sign"]) => {
    const count = (part: readonly Edit[]) => part.filter(({ sign }) => sign !== other).length;
    const [above, length] = [count(edits.slice(0, start)), count(edits.slice(start, end))];
    return `${length === 0 ? above : above + 1},${length}`;
  };
  return `@@ -${range("+")} +${range("-")} @@`;
}

/** Finds the edits by the longest common subsequence of what is between the common beginning and the common end. */
function editsBetween(before: readonly string[], after: readonly string[]): Edit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ sign: " ", line }));
  const middle = middleEdits(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  return [...same(before.slice(0, head)), ...middle, ...same(before.slice(before.length - tail))];
}

function middleEdits(before: readonly string[], after: readonly string[]): Edit[] {
  const common = commonCounts(before, after);
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const edit = nextEdit(before[i], after[j], (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0));
    edits.push(edit);
    if (edit.sign !== "+") i += 1;
    if (edit.sign !== "-") j += 1;
  }
  return edits;
}

function nextEdit(old: string | undefined, line: string | undefined, isOldFirst: boolean): Edit {
  if (old !== undefined && old === line) return { sign: " ", line };
  if (old !== undefined && (line === undefined || isOldFirst)) return { sign: "-", line: old };
  return { sign: "+", line: line ?? "" };
}

/** Counts, by i and j, the lines that the rest of `before` from i and of `after` from j share. */
function commonCounts(before: readonly string[], after: readonly string[]): Uint32Array[] {
  const counts = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const [row, below] = [counts[i], counts[i + 1]];
    if (!row || !below) continue;
    for (let j = after.length - 1; j >= 0; j -= 1)
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return counts;
}
