/** What people read and type for a key: the first one is key 1, while fields such as `key_index` count from 0. */
export function keyNumber(index: number): number {
  return index + 1;
}

/** The place that a number of `keyNumber` stands for. */
export function keyIndex(number: number): number {
  return number - 1;
}
