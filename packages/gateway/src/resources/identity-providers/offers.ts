import type { SignInOffer } from "@fairway/wire";
import type { ProviderStore } from "../../identity/providers/store.ts";
import type { Clock } from "../../lib/clock.ts";

const CACHED_MS = 5_000;

interface OffersDeps {
  readonly providers: Pick<ProviderStore, "list">;
  readonly clock: Clock;
}

/** Lists the providers that visitors may choose. The last list stays while the database does not answer. */
export function createOffers({ providers, clock }: OffersDeps): () => Promise<SignInOffer[]> {
  let readAt = Number.NEGATIVE_INFINITY;
  let offers: SignInOffer[] = [];
  return async () => {
    if (clock.now() - readAt < CACHED_MS) return offers;
    readAt = clock.now();
    try {
      const enabled = (await providers.list()).filter(({ isEnabled }) => isEnabled);
      offers = enabled.map(({ slug, name }) => ({ slug, name, kind: "oidc" }));
    } catch {
      return offers;
    }
    return offers;
  };
}
