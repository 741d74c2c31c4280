import type { Counter } from "prom-client";

/** The sum of some label values, and what follows them. */
class TallyNode {
  readonly next = new Map<string | number, TallyNode>();
  sum = 0;

  /** Returns the sum with this value of the next label. */
  at(value: string | number): TallyNode {
    const known = this.next.get(value);
    if (known) return known;
    const created = new TallyNode();
    this.next.set(value, created);
    return created;
  }

  /** Called with the values of all labels. */
  add(amount: number): void {
    if (!(amount >= 0)) throw new RangeError(`a counter cannot grow by ${amount}`);
    this.sum += amount;
  }
}

/**
 * Counts in front of a counter of the metrics library. The library joins the label values of each count to one text,
 * which takes 300 bytes; this finds the sum of a combination without one. `flush` passes the sums on, before anybody
 * reads them.
 */
export class CounterTally {
  readonly #counter: Counter;
  readonly #labels: readonly string[];
  readonly #root = new TallyNode();

  /** @param labels the names of the counter's labels, in the order in which their values are named */
  constructor(counter: Counter, labels: readonly string[]) {
    this.#counter = counter;
    this.#labels = labels;
  }

  /** Returns the sum of the first label's value; `at` of the result names the value of the second one, and so on. */
  at(value: string | number): TallyNode {
    return this.#root.at(value);
  }

  flush(): void {
    this.#pass(this.#root, []);
  }

  #pass(node: TallyNode, values: readonly (string | number)[]): void {
    for (const [value, next] of node.next) this.#pass(next, [...values, value]);
    if (values.length < this.#labels.length) return;
    const labels = Object.fromEntries(this.#labels.map((name, at) => [name, values[at] ?? ""]));
    this.#counter.inc(labels, node.sum);
    node.sum = 0;
  }
}
