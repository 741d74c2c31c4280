import type { Settlement } from "./ledger.ts";

/** How the reaper closed a request that did not settle itself. */
export type Reaped =
  | "reaped" // charged at the last reported usage
  | "lapsed"; // nothing was delivered, nothing charged

/** A settlement as stored in the journal and in the stream, before it reaches the database. */
export interface Charge {
  readonly settlement: Settlement;
  readonly how?: Reaped;
}

/** Returns the text that `readCharge` reads. */
export function chargeText({ settlement, how }: Charge): string {
  return JSON.stringify(how ? { ...settlement, how } : settlement);
}

/** Parses the text of a charge. Throws a SyntaxError if it is truncated. */
export function readCharge(text: string): Charge {
  const { how, ...settlement } = JSON.parse(text) as Settlement & { readonly how?: Reaped };
  return how ? { settlement, how } : { settlement };
}
