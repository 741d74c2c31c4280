/** Returns the number of a key for people: the first one is key 1, while fields such as `key_index` count from 0. */
export function keyNumber(index: number): number {
  return index + 1;
}

/** Returns the index for a number of `keyNumber`. */
export function keyIndex(number: number): number {
  return number - 1;
}
