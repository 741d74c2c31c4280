/** What an upstream's list says about a model; a member is absent if the list says nothing about it. */
export interface ListedModel {
  readonly contextTokens?: number;
  readonly outputTokens?: number;
  readonly input?: readonly string[];
  readonly output?: readonly string[];
}

export type ListedModels = ReadonlyMap<string, ListedModel>;
