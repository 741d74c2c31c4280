import { hash, randomBytes } from "node:crypto";

const SALT_BYTES = 16;
const FIRST_SLOTS = 1024;
const MAX_LOAD = 0.6;

/**
 * A set of ids that keeps 64 bits of each. The salt is random, so no one can choose ids that are taken for others; of
 * 100,000 ids, two are equal by chance once in four billion batches.
 */
export class IdSet {
  readonly #salt = randomBytes(SALT_BYTES).toString("hex");
  #slots = new BigUint64Array(FIRST_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns false if the set has the id. */
  add(id: string): boolean {
    const key = this.#key(id);
    const slot = this.#find(key);
    if (this.#slots[slot] === key) return false;
    this.#slots[slot] = key;
    this.#size += 1;
    if (this.#size > this.#slots.length * MAX_LOAD) this.#grow();
    return true;
  }

  has(id: string): boolean {
    const key = this.#key(id);
    return this.#slots[this.#find(key)] === key;
  }

  /** 0 marks an empty slot. */
  #key(id: string): bigint {
    const digest = hash("sha256", `${this.#salt}${id}`, "buffer");
    return digest.readBigUInt64LE(0) || 1n;
  }

  #find(key: bigint): number {
    const slots = this.#slots;
    let slot = Number(key % BigInt(slots.length));
    while (slots[slot] !== 0n && slots[slot] !== key) slot = (slot + 1) % slots.length;
    return slot;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new BigUint64Array(before.length * 2);
    for (const key of before) if (key !== 0n) this.#slots[this.#find(key)] = key;
  }
}
