import { mayUseModel } from "../admission/model-access.ts";
import { readTranscriptionModel, type ClientFact } from "../../dialects/endpoints/realtime-events.ts";
import { object, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import type { RequestContext } from "../reservation/reserve.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import type { RouteTarget } from "../selection/types.ts";
import { findIds } from "../tenancy/find-ids.ts";
import { unknownId } from "../tenancy/unknown-id.ts";
import { listsIds } from "../request/shared-ids.ts";

type Checked = Extract<ClientFact, { readonly eventId: string | undefined }>;

/** Throws if the client may not send the event: it names another model, or an object that is not the client's own. */
export function checkClientEvent(
  fact: Checked,
  { request, snapshot }: Pick<RequestContext, "request" | "snapshot">,
  target: RouteTarget,
): void {
  const event: JsonObject =
    fact.kind === "create"
      ? { response: fact.response }
      : fact.kind === "update"
        ? { session: fact.session }
        : { item: fact.item };
  checkObjects(event, target);
  if (fact.kind !== "update") return;
  const model = text(fact.session, "model");
  if (model !== undefined && model !== request.spec.model)
    throw invalidRequest("session.model", "A session keeps its model: open another one for it.");
  const transcriber = readTranscriptionModel(fact.session);
  if (transcriber === undefined) return;
  if (!mayUseModel(request.caller, transcriber))
    throw new AppError("model_not_allowed", { param: "transcription.model", values: { model: transcriber } });
  if (!snapshot.prices.find(transcriber) && !snapshot.options.SelfUseModeEnabled)
    throw new AppError("model_price_error", { param: "transcription.model", values: { model: transcriber } });
}

function checkObjects(event: JsonObject, { channel }: RouteTarget): void {
  for (const { rule, value, path } of findIds("openai-realtime", event) ?? []) {
    const refusal = unknownId(rule.kind, value, path.join("."));
    if (!listsIds(channel, { ids: [value], refusal })) throw refusal;
  }
}

/** Returns the session with the upstream's name of the transcribing model; the same object if it has that name. */
export function withTranscriber(
  session: JsonObject,
  { channel }: RouteTarget,
): { readonly session: JsonObject; readonly asked: string; readonly mapped: string } | undefined {
  const asked = readTranscriptionModel(session);
  const mapped = asked === undefined ? undefined : mapModel(channel.modelMapping, asked);
  if (asked === undefined || mapped === undefined || mapped === asked) return undefined;
  const old = object(session, "input_audio_transcription");
  if (old) return { session: { ...session, input_audio_transcription: { ...old, model: mapped } }, asked, mapped };
  const audio = object(session, "audio") ?? {};
  const input = object(audio, "input") ?? {};
  const transcription = { ...object(input, "transcription"), model: mapped };
  return { session: { ...session, audio: { ...audio, input: { ...input, transcription } } }, asked, mapped };
}

/** Returns what an event adds to the input of the next response, apart from separate items. */
export function addedBy(settings: JsonObject): JsonObject | undefined {
  const { instructions, tools, input } = settings;
  return instructions === undefined && tools === undefined && input === undefined
    ? undefined
    : { instructions, tools, input };
}
