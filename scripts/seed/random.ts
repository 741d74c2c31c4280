/** Returns numbers that appear random but are the same in every run with the same seed. */
export type Random = () => number;

const TABLE_SIZE = 65_536;
const NORMAL_SIZE = 4_096;
const TWO_32 = 4_294_967_296;

/** A 32-bit generator (mulberry32): uniform in [0, 1). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / TWO_32;
  };
}

/**
 * Draws items with frequencies that fall like 1 / (rank + 3): a few are drawn often, most rarely, and all sometimes.
 */
export function createRankedDraw<Item>(items: readonly Item[], random: Random): () => Item {
  const [first] = items;
  if (first === undefined) throw new Error("there is nothing to draw from");
  const weights = items.map((_, rank) => 1 / (rank + 3));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const table: Item[] = [];
  let reached = 0;
  for (const [rank, item] of items.entries()) {
    reached += weights[rank] ?? 0;
    const end = Math.round((reached / sum) * TABLE_SIZE);
    while (table.length < end) table.push(item);
  }
  return () => table[Math.floor(random() * table.length)] ?? first;
}

/** Draws factors around a median of 1 with a long tail upwards: half of them between 0.45 and 2.2. */
export function createSpread(random: Random): () => number {
  const fill = createRandom(1);
  const table = Float64Array.from({ length: NORMAL_SIZE }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - fill())) * Math.cos(2 * Math.PI * fill());
    return Math.exp(1.2 * normal);
  });
  return () => table[Math.floor(random() * NORMAL_SIZE)] ?? 1;
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const PAIRS = Array.from(
  { length: 1_024 },
  (_, index) => `${CROCKFORD.charAt(index >> 5)}${CROCKFORD.charAt(index & 31)}`,
);
const TIME_CHARS = 10;
const RANDOM_PAIRS = 8;

/** Creates ids in the gateway's own format: their text order is their time order. */
export function createRequestIds(random: Random): (ms: number) => string {
  let lastMs = -1;
  let prefix = "";
  return (ms) => {
    if (ms !== lastMs) {
      lastMs = ms;
      prefix = "";
      for (let rest = ms, i = 0; i < TIME_CHARS; i++, rest = Math.floor(rest / 32))
        prefix = CROCKFORD.charAt(rest % 32) + prefix;
    }
    let id = prefix;
    for (let i = 0; i < RANDOM_PAIRS; i++) id += PAIRS[Math.floor(random() * PAIRS.length)] ?? "";
    return id;
  };
}
