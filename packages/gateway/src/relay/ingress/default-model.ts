import { isSet } from "../../dialects/core/read.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { servingGroups } from "../admission/model-access.ts";
import type { RelayRequest } from "../request/request.ts";

/** The model of moderations that name none, if no channel offers the current one. */
const OLDER_MODERATION = "text-moderation-stable";

/** Returns the request with the default model that the caller's groups have; the same object if it names its own. */
export function withDefaultModel(request: RelayRequest, snapshot: Snapshot): RelayRequest {
  const { spec, body, caller } = request;
  if (spec.operation !== "moderations" || isSet(body.json()["model"])) return request;
  const isListed = servingGroups(caller, snapshot).some((group) => snapshot.listed.get(group)?.has(spec.model));
  return isListed ? request : { ...request, spec: { ...spec, model: OLDER_MODERATION } };
}
