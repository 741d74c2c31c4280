import { interceptors, type Dispatcher } from "undici";

type Handler = Dispatcher.DispatchHandler;
type Headers = Parameters<NonNullable<Handler["onResponseStart"]>>[2];

/** Every call requests `identity`, but some servers and the proxies in front of them compress anyway. */
export function isEncoded(headers: Headers): boolean {
  const encoding = headers["content-encoding"];
  return encoding !== undefined && encoding !== "" && encoding !== "identity";
}

/** Passes the decoded body to `handler`; unknown encodings pass unchanged. */
export function decodedFor(handler: Handler): Handler {
  let decoder = handler;
  const decode = interceptors.decompress({ skipErrorResponses: false });
  decode((_options, wrapped) => {
    decoder = wrapped;
    return true;
  })({ method: "POST", path: "/" }, handler);
  return decoder;
}
