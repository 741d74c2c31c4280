import { object, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { codeText } from "../../core/errors/error-body.ts";

export interface TencentFailure {
  readonly code: string;
  readonly message: string;
  /** Id of the request. */
  readonly param: string | undefined;
}

/** Reads `Error` of the service, or `ErrorMsg` of the engine behind it, from `Response` or a streamed event. */
export function readTencentFailure(response: JsonObject | undefined): TencentFailure | undefined {
  const error = object(response, "Error");
  const engine = object(response, "ErrorMsg");
  const code = codeText(error?.["Code"]) || codeText(engine?.["Code"]);
  if (code === "" || code === "0") return undefined;
  return { code, message: text(error, "Message") ?? text(engine, "Msg") ?? "", param: text(response, "RequestId") };
}
