/** Returns the known word that is closest to a misspelt one; undefined if none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  return listNearest(word, known)[0];
}

/** Returns the known words that are close to a misspelt one, closest first. */
export function listNearest(word: string, known: readonly string[]): string[] {
  const most = Math.max(2, Math.floor(word.length / 3));
  const near = known
    .map((one) => ({ one, steps: editDistance(word.toLowerCase(), one.toLowerCase()) }))
    .filter(({ steps }) => steps <= most)
    .toSorted((a, b) => a.steps - b.steps);
  return near.map(({ one }) => one);
}

/** Returns the number of letters to insert, remove or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
