type Outcome = "created" | "updated" | "unchanged" | "skipped";

/** Counts and notes of an import, or of its dry run. */
export class ImportReport {
  readonly #counts = new Map<string, Record<Outcome, number>>();
  readonly #remarks = new Map<string, number>();
  readonly notes: string[] = [];

  count(what: string, outcome: Outcome, { note, times = 1 }: { note?: string | undefined; times?: number } = {}): void {
    if (times === 0) return;
    const counts = this.#counts.get(what) ?? { created: 0, updated: 0, unchanged: 0, skipped: 0 };
    counts[outcome] += times;
    this.#counts.set(what, counts);
    if (note !== undefined) this.notes.push(note);
  }

  /** A fact about several things, said once with their number. */
  remark(text: string): void {
    this.#remarks.set(text, (this.#remarks.get(text) ?? 0) + 1);
  }

  of(what: string): Readonly<Record<Outcome, number>> {
    return this.#counts.get(what) ?? { created: 0, updated: 0, unchanged: 0, skipped: 0 };
  }

  /** Everything of a kind that was looked at so far. */
  total(what: string): number {
    return Object.values(this.of(what)).reduce((sum, number) => sum + number, 0);
  }

  /** One line per kind of thing, then the notes. */
  lines(): string[] {
    const lines = [...this.#counts].map(([what, counts]) => {
      const parts = Object.entries(counts).filter(([, number]) => number > 0);
      return `${what}: ${parts.map(([outcome, number]) => `${number} ${outcome}`).join(", ")}`;
    });
    const remarks = [...this.#remarks].map(([text, times]) => `${times} ${text}`);
    return [...lines, ...[...this.notes, ...remarks].map((note) => `- ${note}`)];
  }
}
