import { CliError, readErrorCode, EXIT } from "../core/exit.ts";

const UNKNOWN_ISSUER = "its certificate is signed by an authority that this machine does not know";
const USE_CA = "name the certificate of that authority with --ca-file FILE, or in FAIRWAY_CA_FILE";

/** Certificate errors by TLS code; retrying does not help. */
const CERTIFICATE_FAULTS: Readonly<Record<string, readonly [fault: string, hint: string]>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: ["its certificate is signed by itself", USE_CA],
  SELF_SIGNED_CERT_IN_CHAIN: [UNKNOWN_ISSUER, USE_CA],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [UNKNOWN_ISSUER, USE_CA],
  UNABLE_TO_GET_ISSUER_CERT: [UNKNOWN_ISSUER, USE_CA],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [UNKNOWN_ISSUER, USE_CA],
  CERT_HAS_EXPIRED: ["its certificate has expired", "renew it on the server, or set the clock of this machine"],
  CERT_NOT_YET_VALID: ["its certificate is not valid yet", "set the clock of this machine"],
  CERT_REVOKED: ["its certificate is revoked", "renew it on the server"],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "its certificate is for another name",
    "use the name of the certificate, or renew it on the server with this one",
  ],
  ERR_SSL_WRONG_VERSION_NUMBER: ["it speaks no TLS", "write the address with http:// if that is meant"],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ["it speaks no TLS", "write the address with http:// if that is meant"],
};

/** Returns why there is no answer, with the server's name. `timeoutMs` is set if the time ran out. */
export function lost(url: string, timeoutMs: number | undefined, cause: unknown): Error {
  const { origin } = new URL(url);
  if (timeoutMs !== undefined) return new Error(`${origin} gave no answer within ${timeoutMs / 1000} s`, { cause });
  const root = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = readTlsCode(root);
  const fault = CERTIFICATE_FAULTS[code];
  if (fault) return new CliError(`${origin} cannot be trusted: ${fault[0]} (${code})`, EXIT.failure, fault[1]);
  return new Error(`${origin} cannot be reached: ${describeReason(root, code)}`, { cause });
}

/** A server without TLS fails with a system code whose message names the error. */
function readTlsCode(root: unknown): string {
  const code = readErrorCode(root);
  if (code !== "EPROTO" || !(root instanceof Error)) return code;
  return /wrong version number|packet length too long/.test(root.message) ? "ERR_SSL_WRONG_VERSION_NUMBER" : code;
}

/** Returns the system's code if there is one; those of the HTTP client say less than its messages. */
function describeReason(root: unknown, code: string): string {
  return code.startsWith("UND_ERR") ? (root as Error).message : code;
}
