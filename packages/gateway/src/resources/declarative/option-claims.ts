import type { DeclarativeDocument } from "@fairway/wire";
import type { Owned, OwnershipStore } from "./ownership.ts";

/** The owner of an option and its priority. */
interface Claim {
  readonly set: string;
  readonly owner: string;
  readonly priority: number;
  /** Undefined for sets of the same apply. */
  readonly stored: Owned | undefined;
}

export interface Claimant {
  readonly name: string;
  readonly owner: string;
  readonly priority: number;
  readonly force: boolean;
}

export type OptionClaims = ReturnType<typeof createOptionClaims>;

/**
 * Tracks which set has which option. Sets must come in the order of `byPriority`; `owned` must not contain sets that
 * are replaced or removed.
 */
export function createOptionClaims(owned: readonly Owned[]) {
  const claims = new Map<string, Claim>();
  for (const stored of owned) {
    if (stored.kind !== "OptionSet") continue;
    const claim = { set: stored.name, owner: stored.owner, priority: stored.priority ?? 0, stored };
    for (const option of stored.fields) claims.set(option, claim);
  }

  return {
    /** Returns why the set cannot have all of its options; "" if it now has them. */
    take({ name, owner, priority, force }: Claimant, options: readonly string[]): string {
      for (const option of options) {
        const rival = claims.get(option);
        const isWeaker = rival && (rival.priority < priority || (force && rival.stored));
        if (rival && !isWeaker) return `${option} is set by ${rival.set} of ${rival.owner}`;
      }
      for (const option of options) claims.set(option, { set: name, owner, priority, stored: undefined });
      return "";
    },

    /** Removes from stored sets the options that a stronger set has taken. */
    async settle(ownership: OwnershipStore): Promise<void> {
      for (const set of owned) {
        if (set.kind !== "OptionSet") continue;
        const fields = set.fields.filter((option) => claims.get(option)?.stored === set);
        if (fields.length < set.fields.length) await ownership.keep({ ...set, fields });
      }
    },
  };
}

/** Sorts option sets first, the highest priority before the others; all other documents retain their order. */
export function byPriority(documents: readonly DeclarativeDocument[]): readonly DeclarativeDocument[] {
  const rank = (document: DeclarativeDocument) =>
    document.kind === "OptionSet" ? (document.spec.priority ?? 0) : Number.NEGATIVE_INFINITY;
  return documents.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
}
