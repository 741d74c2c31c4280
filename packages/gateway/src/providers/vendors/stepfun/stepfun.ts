import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { general } from "../../core/errors/classify.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

function readStepFun(answer: FailedAnswer): UpstreamError | undefined {
  if (answer.status !== 451) return undefined;
  return upstreamError({ class: "content_filter", status: 451, message: general(answer, answer.json).message });
}

export const stepfun = openaiCompatible({
  type: 1007,
  id: "stepfun",
  label: "StepFun",
  baseUrl: "https://api.stepfun.com",
  models: [
    "step-2-16k",
    "step-1-flash",
    "step-1-8k",
    "step-1-32k",
    "step-1-128k",
    "step-1-256k",
    "step-1v-8k",
    "step-1v-32k",
    "step-1x-medium",
  ],
  operations: ["chat", "images.generations", "audio.speech", "audio.transcriptions"],
  streamUsage: false,
  requestTransforms: [olderLimitName, noDeveloperRole],
  responseTransforms: [reasoningName],
  classify: readStepFun,
});
