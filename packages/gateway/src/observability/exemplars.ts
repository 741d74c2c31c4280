/** One request of a bucket, whose trace can be looked up. */
export interface Exemplar {
  readonly traceId: string;
  readonly value: number;
  /** Epoch seconds. */
  readonly at: number;
}

type Labels = Readonly<Record<string, string | number>>;

interface Series {
  readonly labels: Labels;
  /** Upper bounds of its buckets. */
  readonly bounds: readonly number[];
}

/** The last sampled request of each bucket. Without traces it stays empty and costs nothing. */
export class Exemplars {
  readonly #byBucket = new Map<string, Exemplar>();

  note(histogram: string, { labels, bounds }: Series, exemplar: Exemplar): void {
    const bound = bounds.find((upper) => exemplar.value <= upper);
    this.#byBucket.set(buildSeriesKey(histogram, { ...labels, le: bound ?? "+Inf" }), exemplar);
  }

  /** Returns the exemplar of a bucket, which `le` identifies. */
  find(histogram: string, labels: Labels): Exemplar | undefined {
    return this.#byBucket.size === 0 ? undefined : this.#byBucket.get(buildSeriesKey(histogram, labels));
  }
}

function buildSeriesKey(histogram: string, labels: Labels): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([histogram, ...sorted.map(([name, value]) => [name, String(value)])]);
}
