import { NEVER_EXPIRES, splitList, TOKEN_STATUS, type Token } from "@fairway/wire";
import { fromLocalInput } from "../../../lib/format.ts";
import { diffPatch, type Plan, type PlannedChange } from "../../../ui/bulk/plan.ts";

export type TokenPatch = Partial<
  Pick<Token, "status" | "group" | "model_limits_enabled" | "model_limits" | "expired_time">
>;

export type TokenChange = PlannedChange<Token, TokenPatch>;

export interface TokensDraft {
  readonly status: "" | "on" | "off";
  readonly groupMode: "" | "set";
  /** "" = the group of the owner. */
  readonly group: string;
  readonly modelMode: "" | "set" | "add" | "remove" | "all";
  readonly models: readonly string[];
  readonly expiryMode: "" | "at" | "never";
  /** Value of a `datetime-local` input. */
  readonly expires: string;
}

export const NO_CHANGE: TokensDraft = {
  status: "",
  groupMode: "",
  group: "",
  modelMode: "",
  models: [],
  expiryMode: "",
  expires: "",
};

type ProblemText = "modelsMissing" | "badExpiryCreate" | "pastExpiry";

/** Validates a draft, by field. */
export function checkDraft(draft: TokensDraft, now: number): Partial<Record<keyof TokensDraft, ProblemText>> {
  const problems: Partial<Record<keyof TokensDraft, ProblemText>> = {};
  const needsModels = draft.modelMode !== "" && draft.modelMode !== "all";
  if (needsModels && draft.models.length === 0) problems.models = "modelsMissing";
  if (draft.expiryMode !== "at") return problems;
  const at = fromLocalInput(draft.expires);
  if (at === undefined) problems.expires = "badExpiryCreate";
  else if (at <= now) problems.expires = "pastExpiry";
  return problems;
}

/** Returns the tokens that a draft changes, each with the members that differ. */
export function buildPlan(draft: TokensDraft, tokens: readonly Token[]): Plan<Token, TokenPatch> {
  return tokens.flatMap((row) => {
    const difference = diffPatch<TokenPatch>(buildWantedPatch(draft, row), readCurrentValues(row));
    return difference ? [{ row, ...difference }] : [];
  });
}

function readCurrentValues({ status, group, model_limits_enabled, model_limits, expired_time }: Token): TokenPatch {
  return { status, group, model_limits_enabled, model_limits, expired_time };
}

/**
 * An expired or used-up token cannot be used, so there is nothing to disable. Administrators enable what they disabled.
 */
function buildWantedPatch(draft: TokensDraft, token: Token): TokenPatch {
  const { status, groupMode, group, modelMode, expiryMode, expires } = draft;
  return {
    ...(status === "on" && !token.disabled_by_admin && { status: TOKEN_STATUS.enabled }),
    ...(status === "off" && token.status === TOKEN_STATUS.enabled && { status: TOKEN_STATUS.disabled }),
    ...(groupMode !== "" && { group }),
    ...(modelMode !== "" && buildModelPatch(draft, token)),
    ...(expiryMode === "never" && { expired_time: NEVER_EXPIRES }),
    ...(expiryMode === "at" && { expired_time: fromLocalInput(expires) ?? NEVER_EXPIRES }),
  };
}

/** A token that may use every model has no list to remove from, and adding models changes nothing. */
function buildModelPatch({ modelMode, models }: TokensDraft, token: Token): TokenPatch {
  if (modelMode === "all") return { model_limits_enabled: false };
  if (modelMode === "set") return { model_limits_enabled: true, model_limits: models.join(",") };
  if (!token.model_limits_enabled) return {};
  const own = splitList(token.model_limits);
  const next = modelMode === "add" ? [...new Set([...own, ...models])] : own.filter((name) => !models.includes(name));
  return { model_limits: next.join(",") };
}
