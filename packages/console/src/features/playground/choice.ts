import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../session/models.ts";
import { useUser } from "../../session/session.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { groupsQuery, modelsByGroupQuery } from "./api.ts";

/** `with` names the models that answer in addition to the first. */
const DEFAULTS = { model: "", group: "", with: "" };
/** Small, fast and widely known. */
const USUAL_MODEL = "gpt-4o-mini";
/** More columns would be unreadable. */
const MAX_MODELS = 4;

/** Returns the models and the group of the address, or the user's defaults. */
export function useChoice() {
  const [state, change] = useUrlState(DEFAULTS);
  const groups = useQuery(groupsQuery).data ?? {};
  const query = useQuery(modelsQuery);
  const byGroup = useQuery(modelsByGroupQuery).data;
  const own = useUser()?.group ?? "";
  const group = Object.hasOwn(groups, state.group) ? state.group : "";
  const offered = (query.data ?? []).filter((name) => byGroup?.get(name)?.has(group || own) ?? true);
  const usual = offered.includes(USUAL_MODEL) ? USUAL_MODEL : offered[0];
  const first = offered.includes(state.model) ? state.model : usual;
  const others = state.with.split(",").filter((name) => offered.includes(name));
  const models = first === undefined ? [] : [first, ...others].slice(0, MAX_MODELS);
  const choose = (next: readonly string[]) => change({ model: next[0] ?? "", with: next.slice(1).join(",") });
  const unused = offered.find((name) => !models.includes(name));
  return {
    group,
    models,
    offered,
    groups,
    query,
    setGroup: (next: string) => change({ group: next }),
    setModel: (column: number, name: string) => choose(models.map((model, at) => (at === column ? name : model))),
    removeModel: (column: number) => choose(models.filter((_, at) => at !== column)),
    /** Undefined if no other model can be compared. */
    addModel:
      unused === undefined || models.length === 0 || models.length === MAX_MODELS
        ? undefined
        : () => choose([...models, unused]),
  };
}

export type PlaygroundChoice = ReturnType<typeof useChoice>;
