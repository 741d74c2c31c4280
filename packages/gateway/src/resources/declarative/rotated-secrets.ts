import type { Vault } from "../ports.ts";
import type { Fields } from "./kinds.ts";

const REMEMBERED = 8;

export interface Rotation {
  /** Fields whose new value already came from the same source before. */
  readonly returned: readonly string[];
  /** Returns the hashes of replaced values, the latest first. */
  past(changed: readonly string[]): readonly string[];
}

export interface RotationSettings {
  readonly vault: Pick<Vault, "hashKey">;
  /** The Secret, file or variable of each field that comes from one. */
  readonly sources: ReadonlyMap<string, string>;
  readonly current: Fields;
  readonly wanted: Fields;
  readonly known: readonly string[];
}

/**
 * Creates the check for rotated secrets. Replicas see a rotated Secret at different times. A replica that still reads
 * the old value must not restore it, so replaced values are recognised by their hash.
 */
export function createRotation({ vault, sources, current, wanted, known }: RotationSettings): Rotation {
  const hash = (field: string, value: unknown) =>
    vault.hashKey(JSON.stringify([field, sources.get(field), value])).slice(0, 16);
  const sourced = [...sources.keys()];
  return {
    returned: sourced.filter((field) => known.includes(hash(field, wanted[field]))),
    past(changed) {
      const replaced = sourced.filter((field) => changed.includes(field));
      const now = new Set(replaced.map((field) => hash(field, wanted[field])));
      const all = [...replaced.map((field) => hash(field, current[field])), ...known];
      return [...new Set(all)].filter((one) => !now.has(one)).slice(0, REMEMBERED);
    },
  };
}
