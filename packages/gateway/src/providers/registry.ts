import * as adapters from "./index.ts";
import type { ProviderAdapter } from "./core/types.ts";

/** Every adapter, by ascending channel type. */
export const allProviders: readonly ProviderAdapter[] = Object.values<ProviderAdapter>(adapters).toSorted(
  (a, b) => a.type - b.type,
);

const byType = new Map(allProviders.map((provider) => [provider.type, provider]));

/** Returns undefined if the number is not a channel type. */
export function providerByType(type: number): ProviderAdapter | undefined {
  return byType.get(type);
}

/** Returns the default model list of every channel type; knowledge bases have none. */
export function modelsByType(): ReadonlyMap<number, readonly string[]> {
  return new Map(allProviders.map((provider) => [provider.type, provider.models]));
}

const owners = new Map<string, string>();
for (const { models, ownedBy } of allProviders) {
  for (const model of models) if (!owners.has(model)) owners.set(model, ownedBy);
}

/** Returns a model's `owned_by`: the vendor with the lowest type that lists it, or `custom` for operators' names. */
export function findModelOwner(model: string): string {
  return owners.get(model) ?? "custom";
}
