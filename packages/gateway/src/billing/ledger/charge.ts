import type { Settlement } from "./ledger.ts";

/** How a request ended without its own settlement. */
export type Reaped =
  | "reaped" // charged at what was last seen
  | "lapsed"; // nothing was delivered

/** A settlement on its way to the database, in the journal and in the stream. */
export interface Charge {
  readonly settlement: Settlement;
  readonly how?: Reaped;
}

export function chargeText({ settlement, how }: Charge): string {
  return JSON.stringify(how ? { ...settlement, how } : settlement);
}

/** Throws a SyntaxError for text that was cut off. */
export function readCharge(text: string): Charge {
  const { how, ...settlement } = JSON.parse(text) as Settlement & { readonly how?: Reaped };
  return how ? { settlement, how } : { settlement };
}
