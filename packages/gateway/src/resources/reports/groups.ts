import { MAX_REPORT_ROWS, OTHER_VALUE, type ReportField } from "@fairway/wire";
import { hasId, readValues, type GroupRow } from "./fields.ts";

export interface Figures {
  calls: number;
  errors: number;
  input_tokens: number;
  output_tokens: number;
  quota: number;
}

export interface ReportGroup {
  readonly start: number;
  /** Values of the columns of all fields. */
  readonly values: readonly (string | number)[];
  readonly figures: Figures;
}

/** With this many groups, the cheapest are joined, so that memory has a bound. */
const MAX_HELD = 4 * MAX_REPORT_ROWS;

/** The groups of a report. What they leave out is in `~other`, so their sum is always that of all calls. */
export class ReportGroups {
  readonly total = noFigures();
  #groups = new Map<string, ReportGroup>();
  readonly #rest = new Map<number, Figures>();
  #left = 0;
  #leftOut = 0;
  readonly #by: readonly ReportField[];

  constructor(by: readonly ReportField[]) {
    this.#by = by;
  }

  add(start: number, row: GroupRow, figures: Figures): void {
    const values = this.#by.flatMap((field) => readValues(field, row));
    const key = JSON.stringify([start, ...this.#by.map((field) => readKey(field, row))]);
    let group = this.#groups.get(key);
    if (!group) this.#groups.set(key, (group = { start, values, figures: noFigures() }));
    addFigures(group.figures, figures);
    addFigures(this.total, figures);
    if (this.#groups.size > MAX_HELD) this.#cut(MAX_REPORT_ROWS);
  }

  /** Adds calls whose groups are not known. */
  addRest(start: number, figures: Figures): void {
    this.#addToRest(start, figures);
    addFigures(this.total, figures);
  }

  /** Notes that calls came as `~other`, with the number of their values. */
  noteLeftOut(values: number): void {
    this.#leftOut += values;
  }

  /** Returns the groups of an interval from the most expensive to the cheapest, with `~other` at its end. */
  finish(): { readonly groups: readonly ReportGroup[]; readonly left: number; readonly isBounded: boolean } {
    this.#cut(MAX_REPORT_ROWS);
    const values = this.#by.flatMap((field) => (hasId(field) ? [0, OTHER_VALUE] : [OTHER_VALUE]));
    this.#joinRest();
    const rest = [...this.#rest].map(([start, figures]) => ({ start, values, figures }));
    const groups = [...this.#groups.values()].toSorted(compareGroups);
    const all = [...groups, ...rest].toSorted((one, other) => one.start - other.start);
    const left = this.#left + this.#leftOut;
    return { groups: all, left, isBounded: rest.length > 0 || this.#leftOut > 0 };
  }

  /** Sums may have the group of the rest already. */
  #joinRest(): void {
    const fields = this.#by.map((field) => (hasId(field) ? 0 : OTHER_VALUE));
    for (const [start, figures] of this.#rest) {
      const key = JSON.stringify([start, ...fields]);
      const same = this.#groups.get(key);
      if (same) addFigures(figures, same.figures);
      this.#groups.delete(key);
    }
  }

  #cut(most: number): void {
    if (this.#groups.size <= most) return;
    const sorted = [...this.#groups].toSorted(([, one], [, other]) => other.figures.quota - one.figures.quota);
    this.#groups = new Map(sorted.slice(0, most));
    for (const [, { start, figures }] of sorted.slice(most)) this.#addToRest(start, figures);
    this.#left += sorted.length - most;
  }

  #addToRest(start: number, figures: Figures): void {
    const known = this.#rest.get(start) ?? noFigures();
    this.#rest.set(start, known);
    addFigures(known, figures);
  }
}

/** A token or user that was renamed stays one group. */
function readKey(field: ReportField, row: GroupRow): string | number {
  return readValues(field, row)[0] ?? "";
}

function compareGroups(one: ReportGroup, other: ReportGroup): number {
  return other.figures.quota - one.figures.quota || other.figures.calls - one.figures.calls;
}

export function noFigures(): Figures {
  return { calls: 0, errors: 0, input_tokens: 0, output_tokens: 0, quota: 0 };
}

function addFigures(sum: Figures, more: Figures): void {
  for (const name of Object.keys(sum) as (keyof Figures)[]) sum[name] += more[name];
}
