import { NOTHING_USED } from "../../limits/claims.ts";
import type { AdmissionController } from "./admission-controller.ts";
import type { Candidate } from "./candidates.ts";

/** What happens to limits and money if the other one is refused. */
export interface Undo<M> {
  release(reservation: M): Promise<void>;
  /** Replaces the end of the admission. */
  end?(): void;
}

/**
 * Waits for the admission of a request and for its reservation at the same time. If one of them is refused, the other
 * is released, and the refusal is thrown.
 */
export async function admitAndReserve<R extends Candidate, M>(
  admission: AdmissionController,
  admitting: Promise<R | undefined>,
  reserving: Promise<M>,
  undo: Undo<M>,
): Promise<{ readonly first: R | undefined; readonly reservation: M }> {
  // A request that cannot be paid for stops waiting.
  reserving.catch((reason: unknown) => admission.giveUp(reason));
  const [admitted, reserved] = await Promise.allSettled([admitting, reserving]);
  if (admitted.status === "fulfilled" && reserved.status === "fulfilled")
    return { first: admitted.value, reservation: reserved.value };
  if (undo.end) undo.end();
  else admission.end(NOTHING_USED);
  if (reserved.status === "fulfilled") await undo.release(reserved.value);
  throw admitted.status === "rejected" ? admitted.reason : (reserved as PromiseRejectedResult).reason;
}
