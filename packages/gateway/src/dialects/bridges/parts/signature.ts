// Gemini asks for the signature of a function call again. Chat clients drop fields that they do not know, so it
// travels inside of the call's id. Base64 is written without the characters that ids may not hold, where it can be
// restored exactly.

const MARK = "__thought__";
/** Leads a signature that is written as it came. */
const RAW = "~";
/** Google's own value for calls whose signature is not known. */
export const NO_SIGNATURE = "skip_thought_signature_validator";

export interface SignedId {
  readonly id: string;
  readonly signature: string | undefined;
}

export function joinSignature(id: string, signature: string | undefined): string {
  return signature === undefined || signature === "" ? id : `${id}${MARK}${toIdText(signature)}`;
}

export function splitSignature(joined: string): SignedId {
  const at = joined.indexOf(MARK);
  if (at < 0) return { id: joined, signature: undefined };
  return { id: joined.slice(0, at), signature: fromIdText(joined.slice(at + MARK.length)) };
}

function toIdText(signature: string): string {
  const written = signature.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return fromIdText(written) === signature ? written : RAW + signature;
}

function fromIdText(written: string): string {
  return written.startsWith(RAW) ? written.slice(RAW.length) : restored(written);
}

/** Clients may hold ids that were made before: their base64 stands there as it came. */
function restored(written: string): string {
  if (!/^[\w-]*$/.test(written)) return written;
  const base64 = written.replaceAll("-", "+").replaceAll("_", "/");
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}
