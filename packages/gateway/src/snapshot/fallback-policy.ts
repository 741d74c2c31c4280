import type { FallbackTable, OptionValues } from "@fairway/wire";

/** The operator's lists of models that serve in place of others. */
export interface FallbackPolicy {
  readonly all: FallbackTable;
  readonly groups: Readonly<Record<string, FallbackTable>>;
}

/** Undefined without lists, so that requests of such a gateway read nothing more than this. */
export function resolveFallbackPolicy({
  ModelFallbacks: all,
  GroupModelFallbacks: groups,
}: OptionValues): FallbackPolicy | undefined {
  const isEmpty = Object.keys(all).length === 0 && Object.keys(groups).length === 0;
  return isEmpty ? undefined : { all, groups };
}
