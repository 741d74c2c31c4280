import type { CatalogueModel, ChannelType } from "@fairway/wire";
import type { ProviderAdapter } from "../../providers/core/types.ts";

type Provider = Pick<ProviderAdapter, "type" | "id" | "label" | "baseUrl" | "models" | "ownedBy"> &
  Partial<
    Pick<
      ProviderAdapter,
      | "base"
      | "batches"
      | "keyHint"
      | "otherHint"
      | "otherDefault"
      | "retired"
      | "isTask"
      | "balance"
      | "listModels"
      | "hasKeyFile"
      | "cacheMarks"
    >
  >;

/** Creation time of every model in compatible gateways. */
const CREATED = 1_626_777_600;

/** Members of an OpenAI model that clients of compatible gateways read. */
const PERMISSION = {
  id: "modelperm-fairway",
  object: "model_permission",
  created: CREATED,
  allow_create_engine: true,
  allow_sampling: true,
  allow_logprobs: true,
  allow_search_indices: false,
  allow_view: true,
  allow_fine_tuning: false,
  organization: "*",
  group: null,
  is_blocking: false,
};

/** Channel types of compatible gateways; their rows exist even if the registry has no adapter. */
const COMPATIBLE_TYPES: readonly number[] = [
  1, 2, 3, 4, 5, 8, 11, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 31, 33, 34, 35, 36, 37, 38, 39, 40, 41,
  42, 43, 44, 45, 46, 47, 48,
];

export function isChannelType(type: number, known: { has(type: number): boolean }): boolean {
  return COMPATIBLE_TYPES.includes(type) || known.has(type);
}

/** Returns every model of a provider once, ascending; the first provider that has it owns it. */
export function buildCatalogue(providers: readonly Provider[]): CatalogueModel[] {
  const owners = new Map<string, string>();
  for (const { models, ownedBy } of providers) {
    for (const model of models) if (!owners.has(model)) owners.set(model, ownedBy);
  }
  return [...owners]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, owned_by]) => ({
      id,
      object: "model",
      created: CREATED,
      owned_by,
      permission: [PERMISSION],
      root: id,
      parent: null,
    }));
}

/** Returns the usual models by channel type, as text; types without a list have []. */
export function groupModelsByType(providers: readonly Provider[]): Record<string, string[]> {
  const lists = new Map<number, string[]>(COMPATIBLE_TYPES.map((type) => [type, []]));
  for (const { type, models } of providers) lists.set(type, [...models]);
  return Object.fromEntries([...lists].map(([type, models]) => [String(type), models]));
}

export function listChannelTypes(providers: readonly Provider[]): ChannelType[] {
  return providers.map((provider) => ({
    type: provider.type,
    id: provider.id,
    label: provider.label,
    base_url: provider.baseUrl,
    needs_base_url: provider.baseUrl === "" && provider.base === undefined,
    key_hint: provider.keyHint ?? "",
    other_hint: provider.otherHint ?? "",
    other_default: provider.otherDefault ?? "",
    retired: provider.retired ?? false,
    can_test: !(provider.isTask ?? false),
    can_balance: provider.balance !== undefined,
    has_key_file: provider.hasKeyFile === true,
    takes_cache_marks: provider.cacheMarks !== undefined,
    takes_batches: provider.batches !== undefined,
    can_list_models: provider.listModels !== undefined,
  }));
}
