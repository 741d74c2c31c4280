import type { ImportCount } from "@fairway/wire";

type Outcome = "created" | "updated" | "unchanged" | "skipped";

/** Counts and notes of an import, or of its dry run. */
export class ImportReport {
  readonly #counts = new Map<string, Record<Outcome, number>>();
  readonly #remarks = new Map<string, { times: number; readonly names: string[] }>();
  readonly notes: string[] = [];

  count(what: string, outcome: Outcome, { note, times = 1 }: { note?: string | undefined; times?: number } = {}): void {
    if (times === 0) return;
    const counts = this.#counts.get(what) ?? { created: 0, updated: 0, unchanged: 0, skipped: 0 };
    counts[outcome] += times;
    this.#counts.set(what, counts);
    if (note !== undefined) this.notes.push(note);
  }

  /** Notes a fact about several items, reported once with their number and the given names. */
  remark(text: string, name?: string): void {
    const remark = this.#remarks.get(text) ?? { times: 0, names: [] };
    remark.times += 1;
    if (name !== undefined) remark.names.push(name);
    this.#remarks.set(text, remark);
  }

  of(what: string): Readonly<Record<Outcome, number>> {
    return this.#counts.get(what) ?? { created: 0, updated: 0, unchanged: 0, skipped: 0 };
  }

  /** Returns the number of processed items of a kind. */
  total(what: string): number {
    return Object.values(this.of(what)).reduce((sum, number) => sum + number, 0);
  }

  /** Returns what became of each kind of item. */
  counts(): ImportCount[] {
    return [...this.#counts].map(([what, counts]) => ({ what, ...counts }));
  }

  /** Returns every loss, and everything else that is worth knowing, a sentence each. */
  allNotes(): string[] {
    const remarks = [...this.#remarks].map(([text, { times, names }]) => `${times} ${text}${formatNames(names)}`);
    return [...this.notes, ...remarks];
  }

  /** Returns one line per kind of item, then the notes. */
  lines(): string[] {
    const lines = [...this.#counts].map(([what, counts]) => {
      const parts = Object.entries(counts).filter(([, number]) => number > 0);
      return `${what}: ${parts.map(([outcome, number]) => `${number} ${outcome}`).join(", ")}`;
    });
    return [...lines, ...this.allNotes().map((note) => `- ${note}`)];
  }

  /** Returns the number of processed items of all kinds. */
  get processed(): number {
    return [...this.#counts.keys()].reduce((sum, what) => sum + this.total(what), 0);
  }
}

/** Maximum number of names in a note; further ones are only counted. */
const MAX_NAMES = 50;

function formatNames(names: readonly string[]): string {
  if (names.length === 0) return "";
  return ` (${names.slice(0, MAX_NAMES).join(", ")}${names.length > MAX_NAMES ? ", …" : ""})`;
}
