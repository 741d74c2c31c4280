import { bareModel } from "../dialects/gemini-generate/fields.ts";
import { geminiGenerate } from "../dialects/gemini-generate/index.ts";
import { text } from "../dialects/core/read.ts";
import type { Body, RequestSpec } from "../dialects/core/types.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { checkMembers, getMemberNames } from "../relay/body/member-names.ts";
import { jsonBody, readJson } from "../relay/body/read-body.ts";
import { judgeTaskPrompt } from "../relay/policies/guardrail/elsewhere.ts";
import { CallProgress } from "../relay/request/call-progress.ts";
import type { CallTags, RelayRequest } from "../relay/request/request.ts";
import { readCallTags } from "../relay/tags/read-tags.ts";
import { keepToTenant } from "../relay/tenancy/keep-to-tenant.ts";
import type { CacheCall, CacheDeps } from "./types.ts";

/** A prompt that its client wants to cache. */
export interface CreationRequest extends Pick<RelayRequest, "pinnedAccount" | "sharedIds"> {
  /** With the upstream's ids of the client's own files. */
  readonly body: Body;
  readonly model: string;
  /** Upper estimate of the prompt's tokens. */
  readonly promptEstimate: number;
  readonly tags: CallTags | undefined;
}

const TOKEN_BYTES = 3;
const dialect = geminiGenerate;

/** Reads and checks the body of a creation like that of a call of the model. Throws AppError. */
export async function readCreation(call: CacheCall, deps: CacheDeps): Promise<CreationRequest> {
  const { requestId, caller, request, startedAt } = call;
  const { bytes, members, isExact } = await readJson(request, deps.bodyLimits);
  const body = jsonBody(bytes, { isExact });
  checkMembers({ json: body.json(), bytes, members }, getMemberNames(dialect.id));
  const model = bareModel(text(body.json(), "model") ?? "");
  if (model === "") throw invalidRequest("model", "model is missing.");
  deps.checkWords(() => dialect.promptWords(body), requestId);
  await judge(model, body, call, deps);
  const spec = inspect(body, model);
  const received: RelayRequest = {
    id: requestId,
    spec,
    dialect,
    body,
    contentType: "application/json",
    caller,
    url: "",
    protocolHeaders: {},
    startedAt,
    autoGroup: undefined,
    isPlayground: false,
    progress: new CallProgress(),
  };
  const checked = (await keepToTenant(received, deps.tenancy)) ?? received;
  const { pinnedAccount, sharedIds } = checked;
  const settings = deps.snapshots.current().tags;
  return {
    body: checked.body,
    model,
    promptEstimate: checked.spec.promptEstimate,
    tags: readCallTags({ headers: request.headers, body: body.json(), caller, settings }),
    ...(pinnedAccount && { pinnedAccount }),
    ...(sharedIds && { sharedIds }),
  };
}

async function judge(model: string, body: Body, { requestId, caller }: CacheCall, deps: CacheDeps): Promise<void> {
  const snapshot = deps.snapshots.current();
  if (!snapshot.guardrail?.checksPrompts) return;
  const spec = { operation: "chat", dialect: dialect.id, model, stream: false };
  const request = { id: requestId, caller, spec, progress: new CallProgress() };
  await judgeTaskPrompt(request, dialect.promptWords(body), { snapshot, guardrail: deps.guardrail });
}

/** A cache may consist of a system instruction alone, which is no call of a model; it is estimated by its size. */
function inspect(body: Body, model: string): RequestSpec {
  try {
    return dialect.inspect(body, "chat", model);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return {
      operation: "chat",
      dialect: dialect.id,
      model,
      stream: false,
      wantsStreamUsage: false,
      outputCap: undefined,
      promptEstimate: Math.ceil(body.bytes.length / TOKEN_BYTES),
      units: 1,
    };
  }
}
