import { REDEMPTION_STATUS, type Redemption } from "@fairway/wire";
import { diffPatch, type Plan, type PlannedChange } from "../../../ui/bulk/plan.ts";

/** What changes for many codes at once. */
export interface CodesDraft {
  /** "" leaves it alone, like `name`. */
  readonly status: "" | "on" | "off";
  readonly name: string;
  /** Text of an amount in the display unit; "" leaves it alone. */
  readonly value: string;
}

export const NO_CHANGE: CodesDraft = { status: "", name: "", value: "" };

export interface CodePatch {
  readonly status?: number;
  readonly name?: string;
  readonly quota?: number;
}

export type CodeChange = PlannedChange<Redemption, CodePatch>;

interface Wanted {
  readonly draft: CodesDraft;
  /** Quota units of the value; undefined leaves it alone. */
  readonly quota: number | undefined;
}

/** Returns the codes that a draft changes, each with the members that differ; a redeemed code stays as it is. */
export function buildPlan({ draft, quota }: Wanted, codes: readonly Redemption[]): Plan<Redemption, CodePatch> {
  const name = draft.name.trim();
  const wanted: CodePatch = {
    ...(draft.status !== "" && {
      status: draft.status === "on" ? REDEMPTION_STATUS.unused : REDEMPTION_STATUS.disabled,
    }),
    ...(name !== "" && { name }),
    ...(quota !== undefined && { quota }),
  };
  return codes.flatMap((code) => {
    if (code.status === REDEMPTION_STATUS.used) return [];
    const difference = diffPatch<CodePatch>(wanted, { status: code.status, name: code.name, quota: code.quota });
    return difference ? [{ row: code, ...difference }] : [];
  });
}
