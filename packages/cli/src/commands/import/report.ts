type Outcome = "created" | "updated" | "unchanged" | "skipped";

/** A note lists at most this many names and counts the rest. */
const MAX_NAMES = 20;

/** What an import created and what it left out. */
export class CarryReport {
  readonly #counts = new Map<string, Map<Outcome, number>>();
  readonly #counted: string[] = [];
  readonly #notes: string[] = [];
  readonly #names = new Map<string, string[]>();

  count(what: string, outcome: Outcome): void {
    const counts = this.#counts.get(what) ?? new Map<Outcome, number>();
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    this.#counts.set(what, counts);
  }

  /** Adds lines of the gateway's own report. */
  add(lines: readonly string[]): void {
    for (const line of lines)
      if (line.startsWith("- ")) this.note(line.slice(2));
      else this.#counted.push(line);
  }

  note(text: string): void {
    this.#notes.push(text);
  }

  /** Adds a name to a note that is printed once for several things. */
  about(text: string, name: string): void {
    this.#names.set(text, [...(this.#names.get(text) ?? []), name]);
  }

  lines(): string[] {
    const counts = [...this.#counts].map(
      ([what, outcomes]) => `${what}: ${[...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(", ")}`,
    );
    const named = [...this.#names].map(([text, names]) => {
      const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : "";
      return `${text}: ${names.slice(0, MAX_NAMES).join(", ")}${more}`;
    });
    return [...counts, ...this.#counted, ...[...this.#notes, ...named].map((note) => `- ${note}`)];
  }
}
