import type { ImportReport } from "./report.ts";

/** Means the first group that has the model. */
const AUTO = "auto";

/** Groups that have another name here. */
export class GroupNames {
  readonly #names: ReadonlyMap<string, string>;
  readonly #used = new Set<string>();
  readonly #seen = new Set<string>();

  constructor(names: Readonly<Record<string, string>> = {}) {
    this.#names = new Map(Object.entries(names));
  }

  /** Returns the name here; a group that was not renamed has the same name. */
  of(group: string): string {
    const name = this.#names.get(group);
    this.#seen.add(name ?? group);
    if (name === undefined) return group;
    this.#used.add(group);
    return name;
  }

  /** Returns the names here, without duplicates. */
  all(groups: readonly string[]): string[] {
    return [...new Set(groups.map((group) => this.of(group)))];
  }

  isNamed(group: string): boolean {
    return this.#names.has(group);
  }

  /** Returns a table by group, with the names used here; a group that already has that name retains its entry. */
  table<T>(entries: Readonly<Record<string, T>>): Record<string, T> {
    const renamed = Object.entries(entries).map(([group, value]): [string, T] => [this.of(group), value]);
    const own = Object.entries(entries).filter(([group]) => !this.#names.has(group));
    return Object.fromEntries([...renamed, ...own]);
  }

  /** Reports the groups that no row had, and those that have no ratio here. */
  note(report: ImportReport, ratios: Readonly<Record<string, unknown>>): void {
    for (const [group, name] of this.#names)
      if (!this.#used.has(group)) report.notes.push(`there is no group ${group} to be named ${name}`);
    for (const name of [...this.#seen].sort())
      if (name !== "" && name !== AUTO && !Object.hasOwn(ratios, name))
        report.notes.push(`the group ${name} has no ratio here, so 1 counts: add it to GroupRatio`);
  }
}
