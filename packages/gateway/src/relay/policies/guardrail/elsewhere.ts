import { listedName } from "../../../billing/pricing/listed-name.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { Snapshot } from "../../../snapshot/types.ts";
import { servingGroups } from "../../admission/model-access.ts";
import type { RelayRequest } from "../../request/request.ts";
import type { GuardedRequest, Guardrail } from "./guardrail.ts";

/** Judges the prompt of a task, whose result is not text. Throws `prompt_blocked` and `guardrail_unavailable`. */
export async function judgeTaskPrompt(
  request: GuardedRequest,
  texts: readonly string[],
  { snapshot, guardrail }: { readonly snapshot: Snapshot; readonly guardrail: Guardrail },
): Promise<void> {
  const policy = snapshot.guardrail;
  if (!policy?.checksPrompts) return;
  if (!policy.concerns(servingGroups(request.caller, snapshot), listModelNames(request.spec.model))) return;
  const text = texts.filter((one) => one !== "").join("\n");
  const error = await guardrail(policy, request)({ phase: "prompt", text });
  if (error) throw error;
}

/**
 * Realtime conversations cannot be judged. Throws `guardrail_unavailable` if the policy refuses them for that reason.
 */
export function admitUnjudged({ spec }: RelayRequest, groups: readonly string[], { guardrail }: Snapshot): void {
  if (guardrail?.onFailure !== "block" || !guardrail.concerns(groups, listModelNames(spec.model))) return;
  throw new AppError("guardrail_unavailable", {
    status: 403,
    retryable: false,
    message: "The content policy cannot be checked in realtime conversations.",
  });
}

/** A policy may name a model, or the listed name of its series. */
function listModelNames(model: string): readonly string[] {
  return [model, listedName(model)];
}
