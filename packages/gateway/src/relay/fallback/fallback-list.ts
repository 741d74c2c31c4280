import { FALLBACK_CAUSES, type FallbackCause, type FallbackEntry } from "@fairway/wire";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { mayUseModel, servingGroups } from "../admission/model-access.ts";

/** The list of one request. Each model is asked at most once, in order; lists of these models are not followed. */
export class FallbackList {
  #entries: readonly FallbackEntry[];
  readonly #caller: Caller;
  readonly #snapshot: Snapshot;
  #at = 0;

  constructor(entries: readonly FallbackEntry[], caller: Caller, snapshot: Snapshot) {
    this.#entries = entries;
    this.#caller = caller;
    this.#snapshot = snapshot;
  }

  get models(): readonly string[] {
    return this.#entries.map(({ model }) => model);
  }

  /** True if a model of the list stays with the conversations that fall back to it. */
  get isSticky(): boolean {
    return this.#entries.some(({ sticky_seconds: seconds }) => seconds !== undefined);
  }

  /** Seconds for which a conversation stays with the model that serves it; 0 = it does not. */
  stickySeconds(model: string): number {
    return this.#entries.find((entry) => entry.model === model)?.sticky_seconds ?? 0;
  }

  /** The request begins with `model`; if that one fails for any cause, its own model is asked, and then the others. */
  beginWith(model: string, requested: string): void {
    const others = this.#entries.filter((entry) => entry.model !== model);
    this.#entries = [{ model: requested, on: FALLBACK_CAUSES }, ...others];
  }

  /** Models that are left for any cause. */
  get left(): number {
    return this.#entries.slice(this.#at).filter(({ model }) => this.#isOffered(model)).length;
  }

  /** True if a further model may serve after this cause, as far as is known before it is asked. */
  has(cause: FallbackCause): boolean {
    return this.#entries.slice(this.#at).some(({ model, on }) => on.includes(cause) && this.#isOffered(model));
  }

  /** Returns the next model for this cause; those before it are out. */
  take(cause: FallbackCause): string | undefined {
    while (this.#at < this.#entries.length) {
      const { model, on } = this.#entries[this.#at++] as FallbackEntry;
      if (on.includes(cause)) return model;
    }
    return undefined;
  }

  /** False if the caller can never get the model, so that a failing channel of the first one is tried again instead. */
  #isOffered(model: string): boolean {
    const { index, prices } = this.#snapshot;
    const name = listedName(model);
    const isServed = servingGroups(this.#caller, this.#snapshot).some((group) => index.get(group)?.has(name));
    return isServed && mayUseModel(this.#caller, model) && prices.charged(model) !== undefined;
  }
}
